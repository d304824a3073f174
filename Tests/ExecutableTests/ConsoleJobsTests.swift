import Errand
import TestSupport
import Testing

/// `errand jobs`.
@Suite struct ConsoleJobsTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(_ lines: [String]) async throws {
        let output = try await Executable.producer.run(
            ["push", "--from", "-"],
            on: server,
            input: lines.joined(separator: "\n")
        )
        #expect(output.status == 0, "\(output.error)")
    }

    private func jobs(_ arguments: String...) async throws -> [[String: JSON]] {
        // Without --scan a list ends after a time limit, which it may reach while many tests run.
        let output = try await Executable.console.run(["jobs", "--json", "--scan", "100000"] + arguments, on: server)
        #expect(output.status == 0, "\(output.error)")
        return try output.objects
    }

    @Test func writesAnObjectALine() async throws {
        try await push([
            #"{"operation":"work","id":"one","name":"n","unique":"drop","priority":3,"arguments":{"secret":1}}"#
        ])
        let output = try await Executable.console.run(["jobs", "--json"], on: server)
        let job = try output.object
        #expect(job["since_ms"]?.integer != nil)
        var rest = job
        rest["since_ms"] = nil
        let expected: [String: JSON] = [
            "id": "one", "queue": "default", "state": "ready", "operation": "work", "name": "n", "priority": 3,
            "attempt": 0,
            "failures": 0, "crashes": 0, "at_ms": nil, "worker": nil, "error": nil, "result": nil,
            "progress": nil, "progress_message": nil, "pushed_ms": nil, "claimed_ms": nil, "tags": [],
        ]
        #expect(rest == expected)
        #expect(!output.text.contains("secret"))
    }

    @Test func filtersByQueueStateOperationAndName() async throws {
        try await push([
            #"{"operation":"a","id":"1","queue":"x","name":"n"}"#, #"{"operation":"b","id":"2","queue":"x"}"#,
            #"{"operation":"a","id":"3","queue":"y","not_before_ms":9999999999999}"#,
        ])
        #expect(try await jobs().map { $0["id"] } == ["1", "2", "3"])
        #expect(try await jobs("--queue", "y").map { $0["id"] } == ["3"])
        #expect(try await jobs("--state", "scheduled").map { $0["id"] } == ["3"])
        #expect(try await jobs("--operation", "a").map { $0["id"] } == ["1", "3"])
        #expect(try await jobs("--name", "n").map { $0["id"] } == ["1"])
        #expect(try await jobs("--limit", "2").map { $0["id"] } == ["1", "2"])
    }

    @Test func filtersByTheWorkerThatRunsAJob() async throws {
        try await push((1...4).map { #"{"operation":"work","id":"\#($0)"}"# })
        let (one, other) = (try await Desk(server), try await Desk(server))
        try await one.work(.failed, error: "no such picture")
        #expect(try await one.claim(1).map(\.id) == ["2"])
        #expect(try await other.claim(1).map(\.id) == ["3"])
        // Jobs that it ran before and jobs that no worker runs are not included.
        #expect(try await jobs("--worker", one.session.id).map { $0["id"] } == ["2"])
        #expect(try await jobs("--worker", "…\(one.session.id.suffix(8))").map { $0["id"] } == ["2"])
        #expect(try await jobs("--worker", other.session.id, "--state", "running").map { $0["id"] } == ["3"])
        #expect(try await jobs("--worker", "nobody").isEmpty)
        for wrong in [["--state", "dead"], ["--state", "running", "--state", "ready"]] {
            let arguments = ["jobs", "--worker", one.session.id] + wrong
            #expect(try await Executable.console.run(arguments, on: server).status == 64)
        }
        let mine = ["--worker", one.session.id, "--yes"]
        #expect(try await Executable.console.run(["jobs", "delete"] + mine, on: server).status == 64)
        let cancelled = try await Executable.console.run(["jobs", "cancel"] + mine, on: server)
        #expect(cancelled.text == "1 stopping\n", "\(cancelled.error)")
    }

    @Test func readsMoreThanAPage() async throws {
        try await push((0..<230).map { #"{"operation":"work","id":"j\#($0)"}"# })
        #expect(try await jobs("--limit", "1000").map { $0["id"]?.string } == (0..<230).map { "j\($0)" })
        #expect(try await jobs("--limit", "120").count == 120)
    }

    @Test func showsEndedJobsWithResultAndError() async throws {
        try await push(["good", "bad"].map { #"{"operation":"work","id":"\#($0)"}"# })
        let desk = try await Desk(server)
        try await desk.work(.finished, result: "42")
        try await desk.work(.failed, error: "no such picture")
        #expect(try await jobs().map { $0["id"] } == ["bad"])
        let finished = try await jobs("--state", "finished")
        #expect(finished.map { $0["id"] } == ["good"])
        #expect(finished.first?["result"] == "42")
        #expect(finished.first?["operation"] == "work")
        #expect(finished.first?["worker"]?.string == desk.session.id)
        let dead = try await jobs("--state", "dead", "--state", "finished")
        #expect(dead.map { $0["id"] } == ["bad", "good"])
        #expect(dead.first?["error"] == "no such picture")
        #expect(dead.first?["failures"] == 1)
    }

    @Test func makesJobDataSafeForTerminals() async throws {
        try await push([#"{"operation":"work","name":"a\u001b[2Jb\nc\u202ed"}"#])
        let output = try await Executable.console.run(["jobs"], on: server)
        #expect(output.lines.count == 2)
        #expect(output.text.contains(#"a\u{1b}[2Jb\nc\u{202e}d"#))
        #expect(!output.text.contains("\u{1b}"))
    }

    @Test func showsABodyThatCannotBeRead() async throws {
        try await push([#"{"operation":"work","id":"one"}"#])
        try server.run("HSET", "errand:{default}:body", "one", "gar\u{1b}bage")
        let job = try #require(try await jobs().first)
        #expect(job["operation"] == JSON.null)
        #expect(job["error"]?.string?.isEmpty == false)
    }

    @Test func rejectsWrongUsage() async throws {
        for arguments in [["--limit", "0"], ["--state", "lost"], ["--queue", "a b"], ["more"]] {
            #expect(try await Executable.console.run(["jobs"] + arguments, on: server).status == 64)
        }
    }
}

import Errand
import ErrandRedis
import TestSupport
import Testing

/// `errand queue pause|resume|clear|limit`.
@Suite struct ConsoleQueueTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(_ count: Int) async throws -> Output {
        let lines = (0..<count).map { _ in #"{"operation":"work"}"# }
        return try await Executable.producer.run(
            ["push", "--from", "-"],
            on: server,
            input: lines.joined(separator: "\n")
        )
    }

    private func queue(_ arguments: String..., input: String = "") async throws -> Output {
        try await Executable.console.run(["queue"] + arguments, on: server, input: input)
    }

    private func ready() async throws -> Int {
        let desk = try await Desk(server)
        return try await desk.broker.status(of: "default").queue.ready
    }

    @Test func `commands do not create the queue that they name`() async throws {
        for arguments in [
            ["queue", "pause"], ["queue", "resume"], ["queue", "clear"], ["queue", "limit"], ["queue", "set"],
            ["queue", "delete"], ["queue", "delete", "--force"],
        ] {
            let rest = ["limit": ["5"], "set": ["events", "5"]][arguments[1]] ?? []
            let output = try await Executable.console.run(arguments + ["typo"] + rest, on: server)
            #expect(output.status == 1, "\(arguments)")
            #expect(output.error.contains(#"queue "typo" does not exist"#), "\(arguments): \(output.error)")
            #expect(output.text.isEmpty)
        }
        for arguments in [
            ["status"], ["jobs"], ["jobs", "cancel", "--yes"], ["jobs", "export"], ["doctor"], ["schedule", "list"],
            ["schedule", "show", "nightly"], ["schedule", "run", "nightly"], ["schedule", "next", "nightly"],
            ["schedule", "add", "nightly", "work", "--every", "1h"], ["job", "show", "j"],
            ["job", "delete", "j"],
            ["job", "edit", "j"],
        ] {
            let output = try await Executable.console.run(arguments + ["--queue", "typo"], on: server)
            #expect(output.status == 1, "\(arguments)")
            #expect(output.error.contains(#"queue "typo" does not exist"#), "\(arguments): \(output.error)")
        }
        #expect(try server.run("DBSIZE") == "0")
    }

    @Test func `a queue is created once and can be paused before its first job`() async throws {
        let created = try await queue("create", "images", "--json")
        #expect(created.text == #"{"queue":"images","created":true}"# + "\n")
        #expect(try await queue("create", "images", "--json").text == #"{"queue":"images","created":false}"# + "\n")
        #expect(try await queue("pause", "images").status == 0)
        let status = try await Executable.console.run(["status", "--json"], on: server)
        #expect(status.text.contains(#""name":"images","paused":true"#))
    }

    @Test func `a queue in use is deleted only with --force, and leaves nothing`() async throws {
        _ = try await push(3)
        let refused = try await queue("delete", "default")
        #expect(refused.status == 1)
        #expect(refused.error.contains(#"queue "default" has 3 jobs and was not deleted"#), "\(refused.error)")
        #expect(try await queue("clear", "default", "--yes").status == 0)
        do {
            let desk = try await Desk(server)
            let served = try await queue("delete", "default")
            #expect(served.status == 1)
            #expect(served.error.contains("1 live worker"), "\(served.error)")
            try await desk.broker.release(desk.session, on: "default")
        }
        #expect(try await queue("delete", "default").text == "default is deleted\n")
        #expect(try server.run("KEYS", "*") == "")
        _ = try await push(2)
        let forced = try await queue("delete", "default", "--force", "--json")
        #expect(forced.text == #"{"queue":"default","deleted":true,"jobs":2}"# + "\n")
        #expect(try server.run("KEYS", "*") == "")
        #expect(try await push(1).status == 0)
        #expect(try await ready() == 1)
    }

    @Test func pausesAndResumes() async throws {
        _ = try await push(1)
        let desk = try await Desk(server)
        let paused = try await queue("pause", "default", "--json")
        #expect(paused.text == #"{"queue":"default","paused":true}"# + "\n")
        #expect(try await desk.claim().isEmpty)
        #expect(try await queue("resume", "default").status == 0)
        #expect(try await desk.claim().count == 1)
    }

    @Test func clearAsksFirst() async throws {
        _ = try await push(3)
        for answer in ["\u{4}", "no\n", "y e s\n"] {
            let refused = try await clearOnTerminal(answer)
            #expect(refused.status == 1, "\(refused.text)")
        }
        #expect(try await ready() == 3)
        let done = try await clearOnTerminal("yes\n")
        #expect(done.status == 0)
        #expect(done.text.contains("3 jobs of default cancelled"))
    }

    private func clearOnTerminal(_ answer: String) async throws -> Output {
        let clear = try RunningExecutable(
            .console,
            ["queue", "clear", "default"],
            environment: ["ERRAND_REDIS_URL": server.url],
            onTerminal: true
        )
        _ = try await clear.line { $0.contains("3 waiting jobs") }
        clear.write(Array(answer.utf8))
        return await clear.end()
    }

    @Test func withoutATerminalItDoesNotAsk() async throws {
        _ = try await push(2)
        let done = try await queue("clear", "default", input: "")
        #expect(done.status == 0)
        #expect(done.text == "2 jobs of default cancelled\n")
        #expect(try await ready() == 0)
    }

    @Test func clearsWithoutAsking() async throws {
        _ = try await push(1203)
        let output = try await queue("clear", "default", "--yes", "--json")
        #expect(output.text == #"{"queue":"default","cancelled":1203}"# + "\n")
        #expect(try await ready() == 0)
    }

    @Test func setsAndRestoresTheLimit() async throws {
        #expect(try await queue("create", "default").status == 0)
        #expect(try await queue("limit", "default", "2", "--json").text == #"{"queue":"default","limit":2}"# + "\n")
        #expect(try await push(2).status == 0)
        let full = try await push(1)
        #expect(full.status == 69)
        #expect(try await queue("limit", "default", "0").status == 0)
        #expect(try await push(1).status == 0)
    }

    @Test func setsEverySetting() async throws {
        #expect(try await queue("create", "default").status == 0)
        let set = try await queue("set", "default", "events", "500", "--json")
        #expect(set.text == #"{"queue":"default","setting":"events","value":"500"}"# + "\n")
        for (setting, value) in [("limit", "9"), ("starts", "on"), ("keep-results", "2h"), ("remember-ids", "90s")] {
            #expect(try await queue("set", "default", setting, value).status == 0)
        }
        func settings() throws -> [String] {
            try server.run("HGETALL", "errand:{default}:settings").split(whereSeparator: \.isNewline).map(String.init)
        }
        let stored = try settings()
        let pairs = Set(stride(from: 0, to: stored.count, by: 2).map { "\(stored[$0])=\(stored[$0 + 1])" })
        #expect(pairs == ["stream=500", "maximum=9", "starts=1", "keep_ms=7200000", "remember_ms=90000"])
        for setting in ["limit", "starts", "keep-results", "remember-ids", "events"] {
            #expect(try await queue("set", "default", setting, "default").status == 0)
        }
        #expect(try settings().isEmpty)
    }

    @Test func rejectsWrongUsage() async throws {
        for arguments in [
            ["pause"], ["pause", "a b"], ["limit", "q"], ["limit", "q", "many"], ["limit", "q", "--", "-1"],
            ["set", "q", "colour", "1"], ["set", "q", "events", "1000001"], ["set", "q", "starts", "1"],
            ["set", "q", "keep-results", "2"], ["set", "q", "remember-ids", "10ms"],
        ] {
            #expect(try await Executable.console.run(["queue"] + arguments, on: server).status == 64)
        }
    }
}

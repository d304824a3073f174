import Errand
import ErrandRedis
import TestSupport
import Testing

/// `errand job show|cancel|retry|delete`.
@Suite struct ConsoleJobTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(_ id: String, _ more: String...) async throws {
        let output = try await Executable.producer.run(
            ["push", "work", #"{"secret":7}"#, "--id", id] + more,
            on: server
        )
        #expect(output.status == 0, "\(output.error)")
    }

    private func job(_ arguments: String...) async throws -> Output {
        try await Executable.console.run(["job"] + arguments, on: server)
    }

    @Test func showsArgumentsOnlyWhenAsked() async throws {
        try await push("one", "--queue", "images")
        let people = try await job("show", "one")
        #expect(people.status == 0)
        #expect(people.text.contains("images") && people.text.contains("ready"))
        #expect(!people.text.contains("secret"))
        #expect(try await job("show", "one", "--show-arguments").text.contains(#"{"secret":7}"#))
        #expect(try await job("show", "one", "--json").object["arguments"] == nil)
        let shown = try await job("show", "one", "--json", "--show-arguments").object
        #expect(shown["arguments"] == ["secret": 7])
        #expect(shown["queue"] == "images")
    }

    @Test func showsHowFarARunningJobIs() async throws {
        try await push("one")
        let desk = try await Desk(server)
        let claim = try #require(try await desk.claim().first)
        let note = JobUpdate(id: "one", token: claim.token, progress: JobProgress(0.405, "resizing"))
        #expect(try await desk.broker.update(note, of: desk.session, on: "default"))
        #expect(try await job("show", "one").text.contains("41 %: resizing"))
        let shown = try await Executable.console.run(["job", "show", "one", "--json"], on: server)
        #expect(shown.text.contains(#""progress":0.41,"progress_message":"resizing""#), "\(shown.text)")
    }

    @Test func reportsUnknownJobs() async throws {
        try await push("one")
        let output = try await job("show", "one", "two", "--json")
        #expect(output.status == 1)
        #expect(try output.object["id"] == "one")
        #expect(output.error.contains("two"))
    }

    @Test func cancelsWaitingJobsWhereverTheyAre() async throws {
        try await push("one", "--queue", "a")
        try await push("two", "--queue", "b")
        let output = try await job("cancel", "one", "two", "--json")
        #expect(output.status == 0, "\(output.error)")
        let expected: [[String: JSON]] = [
            ["id": "one", "queue": "a", "verdict": "cancelled", "done": true],
            ["id": "two", "queue": "b", "verdict": "cancelled", "done": true],
        ]
        #expect(try output.objects == expected)
        let again = try await job("cancel", "one", "three", "--json")
        #expect(again.status == 1)
        #expect(try again.objects.map { $0["verdict"] } == ["ended", "not_found"])
    }

    @Test func `a job that has ended is not retried, and the reply says why`() async throws {
        try await push("one")
        try await push("two")
        let desk = try await Desk(server)
        let claim = try #require(try await desk.claim(1).first)
        try await desk.report(claim, .finished)
        #expect(try await job("cancel", claim.id == "one" ? "two" : "one").status == 0)
        let output = try await job("retry", "one", "two", "three")
        #expect(output.status == 1)
        let (finished, cancelled) = claim.id == "one" ? ("one", "two") : ("two", "one")
        #expect(output.text.contains("\(finished) ended: it has finished"), "\(output.text)")
        #expect(output.text.contains("\(cancelled) ended: it was cancelled"), "\(output.text)")
        #expect(output.text.contains("three not found"), "\(output.text)")
    }

    @Test func `a unique beginning or end of an id is enough`() async throws {
        try await push("order-2026-0001", "--queue", "a")
        try await push("order-2026-0002", "--queue", "b")
        for part in ["…6-0002", "...6-0002", "…der-2026-0002…"] {
            #expect(try await job("show", part, "--json").object["queue"] == "b", "\(part)")
        }
        let ambiguous = try await job("delete", "order-2026…")
        #expect(ambiguous.status == 1)
        #expect(ambiguous.error.contains("2 jobs have ids with order-2026: order-2026-0001,"), "\(ambiguous.error)")
        for part in ["er-2026-0001…", "…order-2026-00", "…0002", "6-0002"] {
            #expect(try await job("show", part).status == 1, "\(part)")
        }
        let deleted = try await job("delete", "…6-0001", "order-2026-0002", "…6-0002", "--json").objects
        #expect(deleted.map { $0["id"] } == ["order-2026-0001", "order-2026-0002"])
    }

    @Test func `an id of no job reaches no job with a longer id`() async throws {
        try await push("order-10")
        #expect(try await job("cancel", "order-1").text == "order-1 not found\n")
        #expect(try await job("show", "order-10", "--json").object["state"] == "ready")
    }

    @Test func tellsRunningJobsToStop() async throws {
        try await push("one")
        let desk = try await Desk(server)
        let claims = try await desk.claim()
        #expect(try await job("cancel", "one", "--json").object["verdict"] == "stopping")
        let deletion = try await job("delete", "one", "--json")
        #expect(deletion.status == 1)
        #expect(try deletion.object["verdict"] == "running")
        try await desk.report(try #require(claims.first), .cancelled)
        #expect(try await job("show", "one", "--json").object["state"] == "cancelled")
    }

    @Test func retriesDeadJobsWhenTheirNameIsFree() async throws {
        try await push("one", "--name", "n", "--unique", "drop")
        #expect(try await job("retry", "one", "--json").object["verdict"] == "not_dead")
        let desk = try await Desk(server)
        try await desk.work(.failed, error: "broken")
        try await push("two", "--name", "n", "--unique", "drop")
        let taken = try await job("retry", "one")
        #expect(taken.status == 1)
        #expect(taken.text.contains("name taken: job two holds the name"))
        #expect(try await job("delete", "two").status == 0)
        let retried = try await job("retry", "one", "--json")
        #expect(retried.status == 0)
        #expect(try retried.object["verdict"] == "retried")
        #expect(try await job("show", "one", "--json").object["state"] == "ready")
    }

    @Test func runsScheduledJobsNow() async throws {
        try await push("later", "--delay", "1h")
        try await push("alsoLater", "--delay", "1h")
        let hurried = try await job("retry", "later", "--json")
        #expect(hurried.status == 0)
        #expect(try hurried.object["verdict"] == "hurried")
        #expect(try await job("show", "later", "--json").object["state"] == "ready")
        let all = try await Executable.console.run(["jobs", "retry", "--yes", "--json"], on: server)
        #expect(try all.object == ["done": 0, "missed": 0, "verdicts": [:]], "only dead jobs by default")
        let scheduled = ["jobs", "retry", "--state", "scheduled", "--yes", "--json"]
        let some = try await Executable.console.run(scheduled, on: server)
        #expect(try some.object == ["done": 1, "missed": 0, "verdicts": ["hurried": 1]])
    }

    @Test func deletesDeadJobs() async throws {
        try await push("one")
        let desk = try await Desk(server)
        try await desk.work(.failed, error: "broken")
        #expect(try await job("cancel", "one", "--json").object["verdict"] == "dead")
        #expect(try await job("delete", "one", "--json").object["verdict"] == "deleted")
        #expect(try await Executable.console.run(["jobs", "--json"], on: server).bytes.isEmpty)
    }

    @Test func asksForTheQueueWhenAnIDIsInSeveral() async throws {
        try await push("one", "--queue", "a")
        try await push("one", "--queue", "b")
        let ambiguous = try await job("cancel", "one")
        #expect(ambiguous.status == 1)
        #expect(ambiguous.text.contains("a, b"))
        #expect(try await job("cancel", "one", "--queue", "b", "--json").object["queue"] == "b")
        #expect(try await job("show", "one", "--queue", "a", "--json").object["state"] == "ready")
    }

    @Test func rejectsWrongUsage() async throws {
        #expect(try await job("cancel").status == 64)
        #expect(try await job("show", "a b").status == 64)
        #expect(try await job("retry", "one", "--queue", "a:b").status == 64)
        #expect(try await job("pet", "one").status == 64)
    }
}

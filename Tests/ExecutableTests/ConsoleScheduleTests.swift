import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// `errand schedule …`.
@Suite struct ConsoleScheduleTests {
    private let server: RedisServer

    init() async throws {
        server = try RedisServer()
        for queue in ["default", "other", "reports"] {
            #expect(try await Executable.console.run(["queue", "create", queue], on: server).status == 0)
        }
    }

    private func schedule(_ arguments: String...) async throws -> Output {
        try await Executable.console.run(["schedule"] + arguments, on: server)
    }

    private func addNightly() async throws -> Output {
        let arguments = ["add", "nightly", "report", #"{"kind":"sales"}"#, "--queue", "reports"]
        let timing = ["--cron", "30 2 * * *", "--time-zone", "Europe/Berlin", "--overlap", "skip"]
        let missed = ["--catch-up", "all", "--catch-up-limit", "5", "--json"]
        return try await Executable.console.run(["schedule"] + arguments + timing + missed, on: server)
    }

    @Test func `a schedule is added, shown and listed`() async throws {
        let added = try await addNightly()
        #expect(added.text == #"{"name":"nightly","queue":"reports","verdict":"created"}"# + "\n", "\(added.error)")
        #expect(try await addNightly().text.contains("unchanged"))
        let shown = try #require(try await schedule("show", "nightly", "--queue", "reports", "--json").objects.first)
        #expect(shown["paused"] == false)
        #expect(shown["pushed"] == 0)
        #expect(shown["last_ms"] == .null)
        let definition = try #require(shown["definition"])
        guard case .members(let members) = definition else { throw TestFailure("no definition: \(definition)") }
        #expect(members["cron"] == "30 2 * * *")
        #expect(members["time_zone"] == "Europe/Berlin")
        #expect(members["overlap"] == "skip")
        let words = try await schedule("show", "nightly", "--queue", "reports")
        #expect(words.text.contains("30 2 * * * (Europe/Berlin)"))
        #expect(words.text.contains("all, up to 5"))
        _ = try await schedule("add", "pulse", "ping", "--every", "10s", "--queue", "other")
        let listed = try await schedule("list", "--json").objects
        #expect(listed.map { $0["name"] } == ["pulse", "nightly"])
        let one = try await schedule("list", "--queue", "reports", "--json").objects
        #expect(one.count == 1)
        #expect(try await schedule("list").text.contains("every 10s"))
    }

    @Test func `a deleted schedule is added again by a person, but not with an older revision`() async throws {
        let added = try await addNightly()
        #expect(added.status == 0, "\(added.error)")
        let deleted = try await schedule("delete", "nightly", "--queue", "reports", "--json").objects
        #expect(deleted.first?["verdict"] == "deleted")
        #expect(try await schedule("delete", "nightly", "--queue", "reports").status == 1)
        let daily = ["add", "nightly", "report", "--queue", "reports", "--cron", "@daily"]
        let back = try await Executable.console.run(["schedule"] + daily + ["--json"], on: server)
        #expect(try back.objects.first?["verdict"] == "created", "a person may bring back what a person deleted")
        let older = try await Executable.console.run(["schedule"] + daily + ["--revision", "0"], on: server)
        #expect(older.status == 1)
        #expect(older.error.contains("--revision 2"))
    }

    @Test func pausesResumesAndRuns() async throws {
        _ = try await schedule("add", "pulse", "ping", "--every", "1h")
        #expect(try await schedule("pause", "pulse").text == "pulse of default is paused\n")
        let paused = try await schedule("show", "pulse", "--json").objects
        #expect(paused.first?["next_ms"] == .null)
        #expect(try await schedule("list").text.contains("paused"))
        let run = try #require(try await schedule("run", "pulse", "--json").objects.first)
        #expect(run["outcome"] == "accepted")
        let desk = try await Desk(server)
        #expect(try await desk.broker.status(of: "default").queue.ready == 1)
        let verdicts = try await schedule("resume", "pulse", "--json").objects
        #expect(verdicts.first?["verdict"] == "resumed")
        let resumed = try await schedule("show", "pulse", "--json").objects
        #expect(resumed.first?["next_ms"] != .null)
        for verb in ["show", "pause", "resume", "run", "delete", "next"] {
            let missing = try await schedule(verb, "nothing")
            #expect(missing.status == 1, "\(verb)")
            #expect(missing.error.contains("no schedule \"nothing\""), "\(verb): \(missing.error)")
        }
    }

    @Test func printsTheComingTicks() async throws {
        // It needs no broker, and there is none.
        let output = try await Executable.console.run([
            "schedule", "next", "--cron", "30 2 * * *", "--time-zone", "Europe/Berlin", "--count", "3", "--after",
            "2026-03-28T00:00:00Z",
        ])
        #expect(
            output.text == """
                2026-03-28 02:30:00 +01:00  2026-03-28T01:30:00.000Z
                2026-03-29 03:00:00 +02:00  2026-03-29T01:00:00.000Z
                2026-03-30 02:30:00 +02:00  2026-03-30T00:30:00.000Z

                """,
            "\(output.error)"
        )
        _ = try await schedule("add", "pulse", "ping", "--every", "90s")
        let stored = try #require(
            try await schedule("next", "pulse", "--count", "2", "--after", "1970-01-01T00:00:00Z", "--json").objects
                .first
        )
        #expect(stored["time_zone"] == "UTC")
        guard case .list(let ticks)? = stored["ticks"], case .members(let first)? = ticks.first else {
            throw TestFailure("no ticks: \(stored)")
        }
        #expect(ticks.count == 2)
        #expect(first == ["at_ms": 90_000, "local": "1970-01-01 00:01:30 +00:00", "utc": "1970-01-01T00:01:30.000Z"])
    }

    @Test(arguments: [
        ["add", "s", "work"], ["add", "s", "work", "--cron", "61 * * * *"], ["add", "s", "work", "--every", "10ms"],
        ["add", "a b", "work", "--every", "10s"], ["add", "s", "a b", "--every", "10s"],
        ["add", "s", "work", "{", "--every", "10s"], ["add", "s", "work", "--every", "10s", "--cron", "@daily"],
        ["add", "s", "work", "--every", "10s", "--overlap", "perhaps"],
        ["add", "s", "work", "--every", "10s", "--overlap", "skip", "--unique", "drop"],
        ["add", "s", "work", "--every", "10s", "--catch-up", "all"],
        ["add", "s", "work", "--cron", "@daily", "--time-zone", "Mars/Olympus"],
        ["add", "s", "work", "--every", "10s", "--time-zone", "UTC"], ["next"], ["next", "s", "--cron", "@daily"],
        ["next", "--cron", "0 0 30 2 *"], ["next", "--cron", "@daily", "--count", "0"], ["show"], ["show", "a b"],
        ["next", "--cron", "@daily", "--after", "tomorrow"],
    ])
    func rejectsWrongUsage(_ arguments: [String]) async throws {
        let output = try await Executable.console.run(["schedule"] + arguments, on: server)
        #expect(output.status == 64, "\(output.text) \(output.error)")
        #expect(!output.error.isEmpty)
    }
}

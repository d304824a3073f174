import Errand
import Foundation
import TestSupport
import Testing

/// `errand status`.
@Suite struct ConsoleStatusTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    @Test func anEmptyBrokerIsAnEmptyOverview() async throws {
        let output = try await Executable.console.run(["status", "--json"], on: server)
        #expect(output.status == 0)
        #expect(output.text == #"{"queues":[],"workers":[],"unreadable":[]}"# + "\n")
    }

    @Test func writesKeysInTheOrderOfTheContract() async throws {
        _ = try await Executable.producer.run(["push", "work", "--queue", "images"], on: server)
        let output = try await Executable.console.run(["status", "--json"], on: server)
        let age = try #require(output.text.firstMatch(of: /"oldest_ready_ms":([0-9]+)/)?.1)
        let totals =
            #""totals":{"pushed":1,"dropped":0,"replaced":0,"finished":0,"failed":0,"timed_out":0,"cancelled":0,"#
            + #""retried":0,"recovered":0,"released":0,"dead":0,"dead_trimmed":0,"expired":0,"skipped":0,"#
            + #""workflow_finished":0,"workflow_failed":0,"workflow_cancelled":0}"#
        #expect(
            output.text
                == #"{"queues":[{"name":"images","paused":false,"ready":1,"scheduled":0,"running":0,"retrying":0,"dead":0,"#
                + #""oldest_ready_ms":\#(age),\#(totals),"deferred":0,"executing":0,"oldest_unroutable_ms":0,"blocked":0}],"#
                + #""workers":[],"unreadable":[]}"# + "\n"
        )
    }

    @Test func countsEveryStateAndMergesWorkersOverQueues() async throws {
        let lines = ["a", "a", "a", "b", "b"].map { #"{"operation":"work","queue":"\#($0)","retries":0}"# }
        let later = #"{"operation":"work","queue":"a","not_before_ms":9999999999999}"#
        _ = try await Executable.producer.run(
            ["push", "--from", "-"],
            on: server,
            input: (lines + [later]).joined(separator: "\n")
        )
        let desk = try await Desk(server, queues: ["a", "b"])
        _ = try await desk.claim(2, from: "a")
        _ = try await desk.claim(1, from: "b")
        try await desk.work(.failed, error: "broken", queue: "b")
        let status = try await Executable.console.run(["status", "--json"], on: server).object
        let queues = try #require(status["queues"]).items
        #expect(queues.map { $0["name"] } == ["a", "b"])
        #expect(queues.map { $0["ready"] } == [1, 0])
        #expect(queues.map { $0["scheduled"] } == [1, 0])
        #expect(queues.map { $0["running"] } == [2, 1])
        #expect(queues.map { $0["dead"] } == [0, 1])
        let workers = try #require(status["workers"]).items
        #expect(workers.count == 1)
        let worker = try #require(workers.first)
        #expect(worker["id"]?.string == desk.session.id)
        #expect(worker["host"] == "desk.example")
        #expect(worker["pid"] == 4711)
        #expect(worker["queues"] == ["a", "b"])
        #expect(worker["running"] == 3)
        #expect(worker["concurrency"] == 8)
        #expect(worker["last_beat_ms"]?.integer.map { 0..<60_000 ~= $0 } == true)
    }

    @Test func showsPeopleAlignedTablesWithoutColours() async throws {
        _ = try await Executable.producer.run(["push", "work", "--queue", "a-long-name"], on: server)
        let output = try await Executable.console.run(["status"], on: server)
        #expect(output.lines.first?.hasPrefix("QUEUE        READY") == true)
        #expect(output.lines.dropFirst().first?.hasPrefix("a-long-name      1") == true)
        #expect(!output.text.contains("\u{1b}"))
    }

    @Test func reportsWhetherAMachineHasALiveWorker() async throws {
        let desk = try await Desk(server, queues: ["a", "b"])
        func check(_ more: String...) async throws -> Output {
            try await Executable.console.run(["worker-check", "--json"] + more, on: server)
        }
        let alive = try await check("--host", "desk.example")
        #expect(alive.status == 0)
        #expect(try alive.object == ["host": "desk.example", "alive": 1])
        #expect(try await check("--host", "other.example").status == 1)
        #expect(try await check().status == 1)
        try await until("the last heartbeat is long ago") {
            try await check("--host", "desk.example", "--within", "1ms").status == 1
        }
        server.kill(SIGKILL)
        let unknown = try await check("--host", "desk.example")
        #expect(unknown.status == 0)
        #expect(unknown.error.contains("warning"))
        withExtendedLifetime(desk) {}
    }

    @Test func rejectsABadQueueName() async throws {
        #expect(try await Executable.console.run(["status", "--queue", "a{b}"], on: server).status == 64)
    }
}

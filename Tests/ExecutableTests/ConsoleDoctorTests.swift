import Errand
import TestSupport
import Testing

/// `errand doctor`.
@Suite struct ConsoleDoctorTests {
    private func doctor(_ server: RedisServer, _ arguments: String...) async throws -> Output {
        try await Executable.console.run(["doctor", "--json"] + arguments, on: server)
    }

    private func kinds(_ list: JSON?) -> [String] { (list?.items ?? []).compactMap { $0["kind"]?.string } }

    @Test func aGoodServerIsClean() async throws {
        let server = try RedisServer(durable: true)
        let output = try await doctor(server)
        #expect(output.status == 0)
        #expect(output.text == #"{"clean":true,"findings":[],"advice":[],"problem":null}"# + "\n")
        #expect(try await Executable.console.run(["doctor"], on: server).text == "data clean, no advice\n")
    }

    @Test func badSettingsAreAdvice() async throws {
        let server = try RedisServer(["--maxmemory-policy", "allkeys-lru"])
        let output = try await doctor(server)
        #expect(output.status == 0)
        #expect(try output.object["clean"] == true)
        #expect(kinds(try output.object["advice"]) == ["maxmemory_policy", "appendonly"])
        let loose = try RedisServer(["--appendonly", "yes", "--appendfsync", "no"])
        #expect(kinds(try await doctor(loose).object["advice"]) == ["appendfsync"])
    }

    @Test(arguments: [
        (["--client-output-buffer-limit", "pubsub", "0", "0", "0"], "output_buffers"),
        (["--client-output-buffer-limit", "pubsub", "1000", "1000", "1"], "output_buffers"),
        (["--replicaof", "127.0.0.1", "1"], "role"),
    ]) func everySettingThatEndangersJobsIsAdvice(setting: [String], kind: String) async throws {
        let server = try RedisServer(durable: true, setting)
        let output = try await doctor(server)
        #expect(output.status == 0, "\(output.error)")
        #expect(kinds(try output.object["advice"]) == [kind])
    }

    @Test func memoryNearItsLimitIsAdvice() async throws {
        let server = try RedisServer(durable: true)
        // Engines differ in what an empty server uses.
        let used = try server.run("INFO", "memory").firstMatch(of: /used_memory:(\d+)/).flatMap { Int($0.1) }
        try server.run("CONFIG", "SET", "maxmemory", "\(try #require(used) / 10 * 11)")
        #expect(kinds(try await doctor(server).object["advice"]) == ["memory"])
    }

    @Test func anUnregisteredQueueIsAFinding() async throws {
        let server = try RedisServer(durable: true)
        _ = try await Executable.producer.run(["push", "work"], on: server)
        try server.run("DEL", "errand:queues")
        #expect(kinds(try await doctor(server, "--repair").object["findings"]) == ["queue_unregistered"])
        #expect(try await doctor(server).status == 0)
    }

    @Test func lostKeysByEvictionAreFoundAndRepaired() async throws {
        let server = try RedisServer(["--maxmemory-policy", "allkeys-random", "--appendonly", "yes"])
        for n in 0..<30 {
            _ = try await Executable.producer.run(
                ["push", "work", "--priority", "\(n % 10)", "--unique", "drop"],
                on: server
            )
        }
        try server.run("CONFIG", "SET", "maxmemory", "1")
        // Every write makes the server evict keys.
        try server.run("PUBLISH", "errand:x", "y")
        _ = try? server.run("SET", "filler", "x")
        try server.run("CONFIG", "SET", "maxmemory", "0")
        #expect(
            Int(try server.run("INFO", "stats").split(separator: "evicted_keys:").last?.prefix { $0.isNumber } ?? "")
                ?? 0 > 0
        )
        _ = try await doctor(server, "--repair")
        let after = try await doctor(server)
        #expect(after.status == 0, "\(after.text)")
        #expect(kinds(try after.object["advice"]).contains("maxmemory_policy"))
    }

    @Test func aScheduleThatNoWorkerTicksIsAdvice() async throws {
        let server = try RedisServer(durable: true)
        _ = try await Executable.console.run(["queue", "create", "default"], on: server)
        for name in ["nightly", "hourly", "later"] {
            _ = try await Executable.console.run(["schedule", "add", name, "work", "--every", "1h"], on: server)
        }
        #expect(kinds(try await doctor(server).object["advice"]) == [])
        try server.run("ZADD", "errand:{default}:timetable", "1700000000000", "nightly", "1700000000001", "hourly")
        let output = try await doctor(server)
        #expect(output.status == 0, "\(output.text)")
        let advice = try output.object["advice"]
        #expect(kinds(advice) == ["schedule_late"])
        let message = advice?.items.first?["message"]?.string ?? ""
        #expect(message.contains("schedule nightly was to tick") && message.contains("1 other of the queue likewise"))
        #expect(message.hasSuffix("no worker serves the queue"))
    }

    @Test func aServerThatHidesItsSettingsIsNoFinding() async throws {
        let server = try RedisServer(durable: true)
        try server.run("ACL", "SETUSER", "errand", "-info", "-config")
        let output = try await doctor(server)
        #expect(output.status == 0, "\(output.error)")
        #expect(kinds(try output.object["advice"]) == ["settings_hidden"])
    }

    @Test func unroutableJobsAreAdvice() async throws {
        let server = try RedisServer(durable: true)
        _ = try await Executable.producer.run(["push", "play"], on: server)
        #expect(kinds(try await doctor(server).object["advice"]) == ["no_worker"])
        let desk = try await Desk(server)
        let claim = try #require(try await desk.claim().first)
        try await desk.report(claim, .unroutable)
        let advice = try await doctor(server).object["advice"]
        #expect(kinds(advice) == ["unknown_operation"])
        #expect(advice?.items.first?["message"]?.string?.contains("play") == true)
    }

    @Test func pausedQueuesAndDeadJobsAreAdvice() async throws {
        let server = try RedisServer(durable: true)
        for _ in 0..<2 { _ = try await Executable.producer.run(["push", "work"], on: server) }
        let desk = try await Desk(server)
        try await desk.work(.failed, error: "broken")
        _ = try await Executable.console.run(["queue", "pause", "default"], on: server)
        #expect(kinds(try await doctor(server).object["advice"]) == ["paused", "dead_jobs"])
    }

    @Test func findsAndRepairsAQueueThatTheRegistryDoesNotName() async throws {
        let server = try RedisServer(durable: true)
        _ = try await Executable.producer.run(["push", "work"], on: server)
        try server.run("DEL", "errand:queues")
        #expect(kinds(try await doctor(server).object["findings"]) == ["queue_unregistered"])
        #expect(kinds(try await doctor(server, "--repair").object["findings"]) == ["queue_unregistered"])
        #expect(try await doctor(server).status == 0)
        #expect(try server.run("SMEMBERS", "errand:queues") == "default")
    }

    @Test func findsAndRepairsAJobWithoutAPosition() async throws {
        let server = try RedisServer(durable: true)
        _ = try await Executable.producer.run(["push", "work", "--id", "one"], on: server)
        try server.run("DEL", "errand:{default}:ready:5")
        let found = try await doctor(server)
        #expect(found.status == 1)
        #expect(try found.object["clean"] == false)
        let finding = try #require(try found.object["findings"]?.items.first)
        #expect(finding["kind"] == "body_without_position")
        #expect(finding["queue"] == "default")
        #expect(finding["subject"] == "one")
        #expect(finding["repaired"] == false)
        let repaired = try await doctor(server, "--repair")
        #expect(repaired.status == 1)
        #expect(try repaired.object["findings"]?.items.first?["repaired"] == true)
        #expect(try await doctor(server).status == 0)
        let desk = try await Desk(server)
        #expect(try await desk.claim().map(\.id) == ["one"])
    }
}

import Errand
import ErrandRedis
import TestSupport
import Testing

/// Pushes and calls that have little to do, which end before most of their script.
struct ShortcutTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"
    private let session = FullQueue.session("session-1")

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private func push(_ id: String = "job", name: String? = nil) async throws -> Receipt? {
        let job = try OperationDescription("work", name: name, unique: name == nil ? .ignore : .replace, id: id)
        return try await broker.push([job.makeEnvelope()], to: "default").first
    }

    @Test func theFirstPushAddsItsQueueToTheList() async throws {
        defer { broker.close() }
        _ = try await push()
        #expect(try server.run("SISMEMBER", "errand:queues", "default") == "1")
    }

    @Test(arguments: ["ended", "ended:old"]) func aJobThatHasEndedIsNotPushedAgain(generation: String) async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        #expect(try await push()?.outcome == .accepted)
        try await calls.report(try #require(try await calls.claim(1).first), .finished)
        if generation != "ended" { try server.run("RENAME", key + "ended", key + generation) }
        #expect(try await push()?.outcome == .exists)
        #expect(try server.run("EXISTS", key + "body", key + "ready:5") == "0")
    }

    @Test func anEntryThatStandsForAnotherJobIsNotUsed() async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        _ = try await push("job", name: "one")
        // It has the position, and so the entry, of the first one.
        _ = try await push("newer", name: "one")
        try server.run("DEL", key + "ended")
        #expect(try await push("job")?.outcome == .accepted)
        #expect(try await calls.claim(5).map(\.id) == ["newer", "job"])
    }

    @Test func anEntryThatIsATombstoneIsNotUsed() async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        try server.run("RPUSH", key + "ready:5", "job")
        try server.run("HSET", key + "tombstones", "job", "1")
        #expect(try await push()?.outcome == .accepted)
        #expect(try await calls.claim(5).map(\.id) == ["job"])
    }

    @Test func aClaimHasTheFailuresOfItsJob() async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        _ = try await push()
        try await calls.report(try #require(try await calls.claim(1).first), .failed, delay: 0)
        _ = try await broker.promote(on: "default")
        #expect(try await calls.claim(1).first?.attempt == 2)
    }

    @Test func aClaimedJobKeepsItsName() async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        _ = try await push("job", name: "one")
        let claim = try #require(try await calls.claim(1).first)
        #expect(try await push("newer", name: "one")?.outcome == .deferred)
        #expect(try await calls.report(claim, .finished))
        #expect(try await calls.claim(1).map(\.id) == ["newer"])
    }

    @Test(arguments: ["body", "ended", "ended:old", "counters", "runtime", "idle", "sessions", "ready:5"])
    func aKeyOfAWrongTypeRejectsAPush(name: String) async throws {
        defer { broker.close() }
        try server.run("SET", key + name, "garbage")
        await #expect(throws: BrokerError.self) { try await push() }
        #expect(try server.run("KEYS", "*") == key + name)
    }

    @Test(arguments: ["ended", "counters", "idle"]) func aKeyOfAWrongTypeRejectsAReport(name: String) async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        _ = try await push()
        let claim = try #require(try await calls.claim(1).first)
        try server.run("DEL", key + name)
        try server.run("SET", key + name, "garbage")
        await #expect(throws: BrokerError.self) { try await calls.report(claim, .finished) }
        #expect(try server.run("HLEN", key + "body") == "1")
        #expect(try server.run("HLEN", key + "claims:session-1") == "1")
        try server.run("DEL", key + name)
        #expect(try await calls.report(claim, .finished))
        #expect(try await broker.audit("default", repair: false) == [])
    }
}

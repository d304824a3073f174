import Errand
import ErrandRedis
import TestSupport
import Testing

/// A session with more claims than one call recovers.
struct LargeRecoveryTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"
    private let session = FullQueue.session("session-1")

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    /// A thousand jobs that the session has claimed. No outage is detected, however slow this machine is.
    private func hold() async throws {
        try await broker.register(session, on: "default")
        let jobs = try (0..<1000).map { try OperationDescription("work", id: "job-\($0)").makeEnvelope() }
        _ = try await broker.push(jobs, to: "default")
        var calls = Calls(broker: broker, session: session)
        #expect(try await calls.claim(1000).count == 1000)
        try server.run("HDEL", key + "runtime", "grace", "beat")
    }

    private func expectSome(_ portions: [Int]) {
        #expect(portions.reduce(0, +) == 1000, "\(portions)")
        #expect(portions.allSatisfy { (1...400).contains($0) } && portions.count <= 10, "\(portions)")
    }

    @Test func aDeadSessionIsRecoveredInPortionsAndThenEnds() async throws {
        defer { broker.close() }
        try await hold()
        try server.run("ZADD", key + "sessions", "1", session.id)
        var portions: [Int] = []
        while case let recovery = try await broker.recover(on: "default"), recovery.hasMore, portions.count < 20 {
            portions.append(recovery.recovered)
        }
        expectSome(portions)
        #expect(try server.run("EXISTS", key + "sessions", key + "session:session-1", key + "claims:session-1") == "0")
        let crashes = try server.run("HVALS", key + "crashes").split(separator: "\n")
        #expect(crashes.count == 1000 && crashes.allSatisfy { $0 == "1" })
        let status = try await broker.status(of: "default").queue
        #expect(status.ready == 1000 && status.running == 0 && status.totals["recovered"] == 1000)
        let other = FullQueue.session("session-2")
        try await broker.register(other, on: "default")
        var calls = Calls(broker: broker, session: other)
        let claims = try await calls.claim(1500)
        #expect(claims.count == 1000 && Set(claims.map(\.id)).count == 1000)
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func overdueClaimsAreFoundInPortions() async throws {
        defer { broker.close() }
        try await hold()
        let expire = """
            for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do
              redis.call('HSET', KEYS[1], id, string.match(redis.call('HGET', KEYS[1], id), '^%d+') .. ':1')
            end
            """
        try server.run("EVAL", expire, "1", key + "claims:session-1")
        var portions: [Int] = []
        while try server.run("EXISTS", key + "claims:session-1") == "1", portions.count < 20 {
            portions.append(try await broker.recover(on: "default").recovered)
        }
        expectSome(portions)
        #expect(try server.run("ZCARD", key + "sessions") == "1", "it lives")
        let status = try await broker.status(of: "default").queue
        #expect(status.dead == 1000 && status.running == 0 && status.totals["timed_out"] == 1000)
        #expect(try await broker.audit("default", repair: false) == [])
    }
}

import Errand
import ErrandRedis
import TestSupport
import Testing

/// A session with corrupt keys needs the doctor; other sessions continue.
struct CorruptSessionTests {
    private let server: RedisServer
    private let broker: RedisBroker

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private func key(_ name: String) -> String { "errand:{default}:" + name }

    /// A session whose lease has ended, with a claimed job.
    private func die(_ id: String, holding job: String) async throws {
        let session = session(id)
        try await broker.register(session, on: "default")
        _ = try await Producer(broker: broker).push(OperationDescription("noop", id: job))
        let claims = try await broker.exchange(Calls.exchange(session, 1, [], wanted: 1), on: "default").claims
        #expect(claims.map(\.id) == [job])
        try server.run("ZADD", key("sessions"), "1", id)
    }

    private func session(_ id: String) -> Session {
        Session(
            id: id,
            host: "h",
            pid: 1,
            concurrency: 1,
            queues: ["default"],
            lease: .seconds(30),
            operations: ["noop": OperationDefaults()]
        )
    }

    @Test(arguments: ["session", "claims"]) func otherDeadSessionsAreRecovered(_ corrupted: String) async throws {
        defer { broker.close() }
        try await die("session-1", holding: "kept")
        try await die("session-2", holding: "back")
        try server.run("ZADD", key("sessions"), "0", "session-1")
        try server.run("DEL", key("\(corrupted):session-1"))
        try server.run("SET", key("\(corrupted):session-1"), "corrupt")
        while try await broker.recover(on: "default").hasMore {}
        #expect(try server.run("ZRANGE", key("sessions"), "0", "-1") == "session-1")
        #expect(try server.run("LRANGE", key("ready:5"), "0", "-1") == "back")
        let findings = try await broker.audit("default", repair: true)
        #expect(findings.contains { $0.kind == "wrong_type" && $0.repaired })
    }

    @Test func aHolderThatItRunsIsReplacedWhenItEnds() async throws {
        defer { broker.close() }
        try await broker.register(session("session-1"), on: "default")
        var calls = Calls(broker: broker, session: session("session-1"))
        #expect(try await push("holder") == .accepted)
        let claim = try #require(try await calls.claim(1).first)
        try server.run("RENAME", key("claims:session-1"), "kept")
        try server.run("SET", key("claims:session-1"), "corrupt")
        #expect(try await push("successor") == .deferred)
        try server.run("RENAME", "kept", key("claims:session-1"))
        #expect(try await calls.report(claim, .finished))
        #expect(try server.run("LRANGE", key("ready:5"), "0", "-1") == "successor")
        #expect(try await broker.audit("default", repair: false) == [])
    }

    private func push(_ id: String) async throws -> Receipt.Outcome {
        let job = try OperationDescription("noop", name: "name", unique: .replace, id: id)
        return try await Producer(broker: broker).push(job).outcome
    }

    @Test func otherSessionsCanRegister() async throws {
        defer { broker.close() }
        try await die("session-1", holding: "kept")
        try server.run("DEL", key("session:session-1"))
        try server.run("SET", key("session:session-1"), "corrupt")
        try await broker.register(session("session-2"), on: "default")
        #expect(try server.run("ZCARD", key("sessions")) == "2")
    }

    @Test func aQueueThatIsPausedBeforeItsFirstPushIsListed() async throws {
        defer { broker.close() }
        try await broker.createQueue("new")
        try await broker.configure("new", QueueSettings(isPaused: true))
        #expect(try await broker.queues() == ["new"])
        #expect(try await broker.auditRegistry(repair: false) == [])
    }
}

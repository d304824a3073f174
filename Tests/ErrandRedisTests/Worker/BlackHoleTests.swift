import Errand
import ErrandRedis
import Logging
import Synchronization
import TestSupport
import Testing

/// A heartbeat with the timeouts of other calls would lose its session.
@Suite("Heartbeats to a server that does not answer", .timeLimit(.minutes(6)))
struct BlackHoleTests {
    private let logger = Logger(label: "black hole")
    private let session = Session(
        id: "session-1",
        host: "h",
        pid: 1,
        concurrency: 1,
        queues: ["default"],
        lease: .seconds(4),
        operations: [:]
    )

    /// The time until a heartbeat with the default options gets the expected reply.
    private func time(
        at url: String,
        until isHeard: @escaping @Sendable (Result<Beat, BrokerError>) -> Bool
    ) async throws -> Duration {
        let broker = RedisBroker(try RedisAddress(url: url), logger: logger)
        defer { broker.close() }
        let heard = Mutex<ContinuousClock.Instant?>(nil)
        let start = ContinuousClock.now
        let heartbeat = broker.startHeartbeat(
            of: session,
            on: session.queues,
            every: .seconds(1),
            begun: { _ in 0 },
            onBeat: { _, beat in if isHeard(beat) { heard.withLock { $0 = $0 ?? ContinuousClock.now } } }
        )
        defer { heartbeat.stop() }
        try await eventually("it is heard") { heard.withLock { $0 } != nil }
        return try #require(heard.withLock { $0 }) - start
    }

    @Test("a silent connection is replaced early enough to extend the lease")
    func silentConnection() async throws {
        let server = try RedisServer()
        let proxy = try ChaosProxy(to: server)
        defer { proxy.close() }
        let console = RedisBroker(try RedisAddress(url: server.url), logger: logger)
        defer { console.close() }
        try await console.register(session, on: "default")
        let greetings = Atomic(0)
        proxy.treat { request in
            guard request.client.hasSuffix("-heartbeat"), request.contains("SETNAME") else { return .pass }
            return greetings.add(1, ordering: .relaxed).newValue == 1 ? .hold : .pass
        }
        let time = try await time(at: proxy.url) { if case .success = $0 { true } else { false } }
        #expect(greetings.load(ordering: .relaxed) == 2)
        #expect(time < session.lease)
    }

    @Test("an attempt to connect ends before the lease does")
    func noConnection() async throws {
        let port = try DeafPort()
        defer { port.end() }
        let url = "redis://127.0.0.1:\(port.number)"
        let time = try await time(at: url) { if case .failure = $0 { true } else { false } }
        // It timed out, and was not rejected.
        #expect(time > .seconds(1))
        #expect(time < session.lease)
    }
}

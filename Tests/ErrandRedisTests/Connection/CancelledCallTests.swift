import Errand
import ErrandRedis
import Logging
import TestSupport
import Testing

/// A call that a server cannot serve for the moment is repeated until its task is cancelled.
@Suite(.timeLimit(.minutes(6))) struct CancelledCallTests {
    @Test func `a call that is cancelled during its retries throws the reason for them`() async throws {
        let server = try RedisServer()
        let broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "cancelled"))
        defer { broker.close() }
        try server.refuseWrites(true)
        let call = Task { try await broker.promote(on: "default") }
        try await eventually("it is tried again") { try server.refusedWrites() > 3 }
        call.cancel()
        let error = await #expect(throws: BrokerError.self) { try await call.value }
        // As for an unreachable server, so that the caller may repeat the call.
        #expect(error?.code == .notReachable)
        #expect(error?.message.contains("NOREPLICAS") == true)
    }
}

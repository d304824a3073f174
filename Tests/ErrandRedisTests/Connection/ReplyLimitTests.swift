import Errand
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// A server whose replies are larger than any that Errand requests: its connection is closed.
@Suite(.timeLimit(.minutes(6))) struct ReplyLimitTests {
    /// Returns the error of a request to such a server.
    private func refusal(of beginning: String, bytes: Int = 0) async throws -> BrokerError {
        let server = try ChattyServer(beginning: beginning, bytes: bytes)
        defer { withExtendedLifetime(server) {} }
        let broker = RedisBroker(
            try RedisAddress(url: "redis://127.0.0.1:\(server.port)"),
            // Short enough for one attempt only.
            options: ConnectionOptions(patience: .milliseconds(1)),
            logger: Logger(label: "limits")
        )
        defer { broker.close() }
        let error = await #expect(throws: BrokerError.self) { try await broker.ping() }
        return try #require(error)
    }

    @Test func anEndlessTextIsRejected() async throws {
        let most = RESPReader.mostBytes
        // It closes the connection later, so that no reader waits forever.
        let error = try await refusal(of: "$\(2 * most)\r\n", bytes: most + (32 << 20))
        #expect(error.code == .notReachable)
        #expect(error.message.contains("a reply of more than 256 MiB"), "\(error)")
    }

    @Test func anArrayWithTooManyElementsIsRejectedBeforeTheyArrive() async throws {
        let error = try await refusal(of: "*\(RESPReader.mostElements + 1)\r\n")
        #expect(error.code == .notReachable)
        #expect(error.message.contains("an array of more than 1048576 elements"), "\(error)")
    }

    @Test func anArrayWithinTheLimitIsAwaited() async throws {
        let error = try await refusal(of: "*\(RESPReader.mostElements)\r\n")
        #expect(error.code == .notReachable && !error.message.contains("elements"), "\(error)")
    }
}

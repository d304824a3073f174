import Errand
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// A server that says more than any part of Errand asks for: its connection is given up, and with it what was read.
@Suite(.timeLimit(.minutes(6))) struct ReplyLimitTests {
    /// What who asks a server hears that answers so.
    private func refusal(of beginning: String, bytes: Int = 0) async throws -> BrokerError {
        let server = try ChattyServer(beginning: beginning, bytes: bytes)
        defer { withExtendedLifetime(server) {} }
        let broker = RedisBroker(
            try RedisAddress(url: "redis://127.0.0.1:\(server.port)"),
            // So little that there is one attempt.
            options: ConnectionOptions(patience: .milliseconds(1)),
            logger: Logger(label: "limits")
        )
        defer { broker.close() }
        let error = await #expect(throws: BrokerError.self) { try await broker.ping() }
        return try #require(error)
    }

    @Test func aTextThatDoesNotEndIsGivenUp() async throws {
        let most = RESPReader.mostBytes
        // It closes the connection later, so that nobody reads for ever.
        let error = try await refusal(of: "$\(2 * most)\r\n", bytes: most + (32 << 20))
        #expect(error.code == .notReachable)
        #expect(error.message.contains("a reply of more than 256 MiB"), "\(error)")
    }

    @Test func anArrayThatSaysToHaveTooManyElementsIsGivenUpBeforeTheyCome() async throws {
        let error = try await refusal(of: "*\(RESPReader.mostElements + 1)\r\n")
        #expect(error.code == .notReachable)
        #expect(error.message.contains("an array of more than 1048576 elements"), "\(error)")
    }

    @Test func anArrayWithinTheLimitIsAwaited() async throws {
        let error = try await refusal(of: "*\(RESPReader.mostElements)\r\n")
        #expect(error.code == .notReachable && !error.message.contains("elements"), "\(error)")
    }
}

import Errand
import Foundation
import InMemoryLogging
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// What a library logs while its broker is away, for programs that only push.
@Suite(.timeLimit(.minutes(6))) struct OutageLogTests {
    @Test func aLostBrokerIsAWarningAndItsReturnANotice() async throws {
        let server = try RedisServer()
        let log = InMemoryLogHandler()
        let broker = try RedisBroker(
            url: server.url,
            options: ConnectionOptions(patience: .seconds(120)),
            logger: Logger(label: "library") { _ in log }
        )
        defer { broker.close() }
        try await broker.ping()
        #expect(log.entries.isEmpty)
        server.kill(SIGKILL)
        async let returned: Void = broker.ping()
        try await eventually("a warning is logged") {
            log.entries.contains { $0.level == .warning && "\($0.message)".contains("the broker cannot be reached") }
        }
        try server.start()
        try await returned
        let back = try #require(log.entries.first { "\($0.message)" == "the broker is back" })
        #expect(back.level == .notice && back.metadata["after"] != nil)
        #expect(back.metadata["broker.address"]?.description == "\(server.shownURL)")
        #expect(log.entries.count { $0.level == .warning } == 1, "\(log.entries)")
    }
}

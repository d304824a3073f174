import Errand
import InMemoryLogging
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ErrandRedis

/// Subscriptions that a server closes repeatedly, for example because of a small output limit.
@Suite(.timeLimit(.minutes(6))) struct SubscriptionLossTests {
    @Test func repeatedLossesCauseAWarning() async throws {
        let server = try RedisServer()
        let log = InMemoryLogHandler()
        let subscribed = Atomic(0)
        let subscriber = Subscriber(
            try RedisAddress(url: server.url),
            ConnectionOptions(),
            channels: [KeySpace.events(of: "default")],
            logger: Logger(label: "subscriber") { _ in log },
            onSubscribed: { _ in subscribed.add(1, ordering: .relaxed) },
            onRefused: { Issue.record($0) },
            onMessage: { _, _ in }
        )
        defer { subscriber.cancel() }
        try await eventually("it listens") { subscribed.load(ordering: .relaxed) > 0 }
        _ = try server.run("CLIENT", "KILL", "TYPE", "pubsub")
        try await eventually("it listens again") { subscribed.load(ordering: .relaxed) > 1 }
        #expect(log.entries.filter { $0.level >= .warning }.isEmpty, "a single loss is not reported")
        try await eventually("a warning is logged") {
            _ = try server.run("CLIENT", "KILL", "TYPE", "pubsub")
            return log.entries.contains { $0.level == .warning && "\($0.message)".contains("subscription lost") }
        }
    }
}

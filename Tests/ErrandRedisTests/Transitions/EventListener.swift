import Errand
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ErrandRedis

/// A subscriber that records the raw messages of a queue's events.
final class EventListener: Sendable {
    private let heard = Mutex<[[UInt8]]>([])
    private let isSubscribed = Atomic(false)

    var messages: [[UInt8]] { heard.withLock { $0 } }
    var events: [JobEvent] { messages.flatMap { QueueEvents(queue: "default", message: $0).events } }

    /// Subscribes at a server, and returns once it has confirmed that.
    func listen(
        to address: RedisAddress,
        _ channel: String = KeySpace.events(of: "default"),
        kind: Subscriber.Kind = .channels
    ) async throws -> Subscriber {
        let subscriber = Subscriber(
            address,
            ConnectionOptions(),
            channels: [channel],
            kind: kind,
            logger: Logger(label: "listener"),
            onSubscribed: { _ in self.isSubscribed.store(true, ordering: .releasing) },
            onRefused: { Issue.record($0) },
            onMessage: { _, message in self.heard.withLock { $0.append(message) } }
        )
        try await eventually("it listens") { isSubscribed.load(ordering: .acquiring) }
        return subscriber
    }
}

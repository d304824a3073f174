import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// The events of a queue as received by a permanent subscriber.
final class FaultEvents: Sendable {
    struct Event: Decodable, Sendable {
        let event: String
        let id: String
        let worker: String?
        let attempt: Int
    }

    private struct State {
        var isSubscribed = false
        var events: [Event] = []
        var messages = 0
        var task: Task<Void, Never>?
    }

    private let shared = Shared()

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    init(of broker: RedisBroker, on queue: String) {
        let shared = shared
        let task = Task {
            let stream = broker.events(of: [queue]) { shared.state.withLock { $0.isSubscribed = true } }
            do {
                for try await message in stream { Self.take(message, into: shared) }
            } catch {}
        }
        shared.state.withLock { $0.task = task }
    }

    private static func take(_ message: QueueEvents, into shared: Shared) {
        // Any client can publish there; invalid events are skipped.
        let events = message.lines.compactMap { try? JSONDecoder().decode(Event.self, from: Data($0)) }
        shared.state.withLock { state in
            state.messages += 1
            state.events += events
        }
    }

    func awaitSubscription() async throws {
        try await eventually("events are subscribed to") { self.shared.state.withLock(\.isSubscribed) }
    }

    func cancel() { shared.state.withLock(\.task)?.cancel() }

    /// The number of received messages, whatever their contents.
    var messages: Int { shared.state.withLock(\.messages) }

    /// The events of a kind, or of all kinds, in the order of their arrival.
    func all(_ kind: String? = nil, of id: String? = nil) -> [Event] {
        shared.state.withLock(\.events).filter { (kind == nil || $0.event == kind) && (id == nil || $0.id == id) }
    }
}

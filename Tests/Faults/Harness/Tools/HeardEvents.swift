import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// The events of the queue as received by a permanent subscriber.
final class HeardEvents: Sendable {
    /// One event.
    struct Event: Decodable, Sendable {
        let event: String
        let id: String
        let worker: String?
        let attempt: Int
        let at_ms: Int64
        let error: String?
    }

    private let events = Mutex<[Event]>([])

    fileprivate func take(_ message: QueueEvents) {
        // Any client can publish there; invalid events are skipped.
        let found = message.lines.compactMap { try? JSONDecoder().decode(Event.self, from: Data($0)) }
        events.withLock { $0 += found }
    }

    /// The events of a kind, or of all kinds, in the order of their arrival.
    func all(_ kind: String? = nil, of id: String? = nil) -> [Event] {
        events.withLock { $0 }.filter { (kind == nil || $0.event == kind) && (id == nil || $0.id == id) }
    }
}

extension ScenarioContext {
    /// Subscribes to the queue's events until the scenario ends.
    func listen() async throws -> HeardEvents {
        let heard = HeardEvents()
        let flag = Subscribed()
        let stream = try console.events(of: [Self.queue]) { flag.value.withLock { $0 = true } }
        let task = Task {
            do { for try await message in stream { heard.take(message) } } catch { self.note("\(error)") }
        }
        atEnd { task.cancel() }
        try await eventually("events are subscribed to") { flag.value.withLock { $0 } }
        return heard
    }

    private final class Subscribed: Sendable {
        let value = Mutex(false)
    }
}

import Dispatch
import Synchronization

/// The subscribers of a broker: to events of queues, and to wake-ups of sessions.
final class MemorySubscribers: Sendable {
    private struct Listeners {
        var nextNumber = 0
        var events: [Int: EventListener] = [:]
        var hints: [Int: WakeUpListener] = [:]
    }

    private struct EventListener {
        let queues: Set<String>?
        let continuation: AsyncThrowingStream<QueueEvents, any Error>.Continuation
    }

    private struct WakeUpListener {
        let session: String
        let queues: Set<String>
        let onWakeUp: @Sendable (WakeUp) -> Void
    }

    /// The number of messages that are kept for a slow subscriber. It misses the oldest if there are more.
    private static let mostWaitingMessages = 8192

    private let listeners = Mutex(Listeners())
    private let hintQueue = DispatchQueue(label: "errand.memory-broker.hints")

    func events(of queues: [String]?) -> AsyncThrowingStream<QueueEvents, any Error> {
        let (stream, continuation) = AsyncThrowingStream<QueueEvents, any Error>
            .makeStream(bufferingPolicy: .bufferingNewest(Self.mostWaitingMessages))
        let number = add { listeners, number in
            listeners.events[number] = EventListener(queues: queues.map(Set.init), continuation: continuation)
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return stream
    }

    func wakeUps(
        for session: String,
        on queues: [String],
        _ onWakeUp: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        let number = add { listeners, number in
            listeners.hints[number] = WakeUpListener(session: session, queues: Set(queues), onWakeUp: onWakeUp)
        }
        return MemorySubscription(subscribers: self, number: number)
    }

    func remove(_ number: Int) {
        listeners.withLock { listeners in
            listeners.events[number] = nil
            listeners.hints[number] = nil
        }
    }

    /// Returns whether a session has subscribed to the wake-ups of a queue.
    func isHeard(_ session: String, of queue: String) -> Bool {
        listeners.withLock { $0.hints.values.contains { $0.session == session && $0.queues.contains(queue) } }
    }

    /// Delivers the events and wake-ups of a transition.
    func deliver(_ effects: MemoryEffects, of queue: String) {
        if !effects.events.isEmpty { deliverEvents(effects, of: queue) }
        for wakeUp in effects.wakeUps { deliver(wakeUp.wakeUp, to: wakeUp.session, of: queue) }
    }

    private func deliverEvents(_ effects: MemoryEffects, of queue: String) {
        let interested = listeners.withLock { $0.events.values.filter { $0.queues?.contains(queue) ?? true } }
        if interested.isEmpty { return }
        for message in effects.messages {
            let events = QueueEvents(queue: queue, message: message)
            for listener in interested { listener.continuation.yield(events) }
        }
    }

    /// Delivers from a queue of the broker's own, so that subscribers may call the broker.
    private func deliver(_ hint: WakeUp, to session: String, of queue: String) {
        let interested = listeners.withLock {
            $0.hints.values.filter { $0.session == session && $0.queues.contains(queue) }
        }
        for listener in interested { hintQueue.async { listener.onWakeUp(hint) } }
    }

    private func add(_ insert: (inout Listeners, Int) -> Void) -> Int {
        listeners.withLock { listeners in
            listeners.nextNumber += 1
            insert(&listeners, listeners.nextNumber)
            return listeners.nextNumber
        }
    }
}

/// A subscription to wake-ups.
struct MemorySubscription: Subscription {
    /// The subscription does not keep the broker alive.
    weak let subscribers: MemorySubscribers?
    let number: Int

    func cancel() { subscribers?.remove(number) }
}

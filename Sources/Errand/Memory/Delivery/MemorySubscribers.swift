import Dispatch
import Synchronization

/// Who listens to a broker: to the events of queues, and to hints for sessions.
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
        let onHint: @Sendable (WakeUp) -> Void
    }

    /// How many messages wait for a slow subscriber; then the oldest are lost.
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
        _ onHint: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        let number = add { listeners, number in
            listeners.hints[number] = WakeUpListener(session: session, queues: Set(queues), onHint: onHint)
        }
        return MemorySubscription(subscribers: self, number: number)
    }

    func remove(_ number: Int) {
        listeners.withLock { listeners in
            listeners.events[number] = nil
            listeners.hints[number] = nil
        }
    }

    /// Whether somebody listens to a session's hints.
    func isHeard(_ session: String, of queue: String) -> Bool {
        listeners.withLock { $0.hints.values.contains { $0.session == session && $0.queues.contains(queue) } }
    }

    /// Hands out what a transition of a queue had to tell.
    func deliver(_ outbox: MemoryOutbox, of queue: String) {
        if !outbox.messages.isEmpty { deliver(outbox.messages, of: queue) }
        for (session, hint) in outbox.hints { deliver(hint, to: session, of: queue) }
    }

    private func deliver(_ messages: [[UInt8]], of queue: String) {
        let interested = listeners.withLock { $0.events.values.filter { $0.queues?.contains(queue) ?? true } }
        for message in messages {
            let events = QueueEvents(queue: queue, message: message)
            for listener in interested { listener.continuation.yield(events) }
        }
    }

    /// From a queue of the broker's own, so that whoever is hinted may call the broker.
    private func deliver(_ hint: WakeUp, to session: String, of queue: String) {
        let interested = listeners.withLock {
            $0.hints.values.filter { $0.session == session && $0.queues.contains(queue) }
        }
        for listener in interested { hintQueue.async { listener.onHint(hint) } }
    }

    private func add(_ insert: (inout Listeners, Int) -> Void) -> Int {
        listeners.withLock { listeners in
            listeners.nextNumber += 1
            insert(&listeners, listeners.nextNumber)
            return listeners.nextNumber
        }
    }
}

/// A subscription to hints.
struct MemorySubscription: Subscription {
    /// Not kept alive by whoever subscribed.
    weak let subscribers: MemorySubscribers?
    let number: Int

    func cancel() { subscribers?.remove(number) }
}

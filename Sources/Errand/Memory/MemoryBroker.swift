import Foundation
import Synchronization

/// A broker within this process: for tests, for development, and for work that may be lost with the process.
///
/// It makes the same transitions as the Redis broker, and one conformance suite tests both. It stores nothing outside
/// the process: its jobs are lost with the last reference to it.
///
/// ```swift
/// let broker = MemoryBroker()
/// let receipts = try await broker.push([try OperationDescription("greet").makeEnvelope()], to: "default")
/// ```
///
/// Every transition is atomic within its queue; queues do not wait for each other. The limits are those of
/// `docs/data-model.md`, except that the size of a call is not limited.
public final class MemoryBroker: Broker {
    let subscribers = MemorySubscribers()
    private let queuesByName = Mutex<[String: MemoryQueueBox]>([:])
    let clock: @Sendable () -> Int64
    /// Held while messages between queues are delivered, so that they keep their order.
    let delivery = Mutex(())

    /// Makes an empty broker.
    ///
    /// - Parameter now: The broker's clock, in milliseconds since 1970 UTC; the system's clock by default. Leases, due
    ///   times and deadlines use it, so a test can set the time.
    public init(now: @escaping @Sendable () -> Int64 = MemoryBroker.systemTime) {
        clock = now
    }

    /// Returns the time of the system's clock, in milliseconds since 1970 UTC.
    public static func systemTime() -> Int64 {
        Int64(clamping: Int(exactly: (Date().timeIntervalSince1970 * 1000).rounded(.down)) ?? 0)
    }
}

/// One queue and the lock that makes its transitions atomic.
final class MemoryQueueBox: Sendable {
    struct State {
        var queue: MemoryQueue
        var statistics = MemoryStatistics()
        /// Whether the queue was deleted, so that nothing may be added to it.
        var isDeleted = false
    }

    let state: Mutex<State>

    init(_ name: String) { state = Mutex(State(queue: MemoryQueue(name: name))) }
}

extension MemoryBroker {
    /// The names of the queues that producers, workers or operators have created.
    var knownQueues: [String] { queuesByName.withLock { $0.keys.sorted() } }

    /// Makes one transition of a queue at the clock's current time. Its events and wake-ups are delivered before the
    /// next transition, so that events keep their order.
    ///
    /// - Parameter creating: Whether the queue is created if it does not exist; otherwise it is treated as empty.
    func change<Answer: Sendable>(
        _ name: String,
        creating: Bool = false,
        _ transition: (inout MemoryQueue) throws(BrokerError) -> Answer
    ) throws(BrokerError) -> Answer {
        let (answer, hasMessages) = try changeOnly(name, creating: creating, transition)
        if hasMessages { try deliverMessages(of: name) }
        return answer
    }

    /// Makes one transition. Also returns whether the queue has messages for others.
    func changeOnly<Answer: Sendable>(
        _ name: String,
        creating: Bool = false,
        _ transition: (inout MemoryQueue) throws(BrokerError) -> Answer
    ) throws(BrokerError) -> (Answer, hasMessages: Bool) {
        try withState(of: name, creating: creating) { state throws(BrokerError) in
            state.queue.beginTransition(at: clock())
            let answer = try transition(&state.queue)
            state.queue.endTransition()
            subscribers.deliver(state.queue.effects, of: name)
            return (answer, !state.queue.workflows.messages.isEmpty)
        }
    }

    /// Delivers the messages of a queue, and those that arise from that, until none is left.
    private func deliverMessages(of name: String) throws(BrokerError) {
        try delivery.withLock { _ throws(BrokerError) in
            var senders = [name]
            while let sender = senders.popLast() {
                let (messages, _) = try changeOnly(sender) { queue in queue.takeMessages() }
                senders += try deliver(messages, from: sender)
            }
        }
    }

    /// Returns the queues that have messages for others then.
    private func deliver(
        _ messages: [MemoryWorkflowMessage],
        from sender: String
    ) throws(BrokerError) -> [String] {
        var senders: [String] = []
        for message in messages {
            let (_, hasMessages) = try changeOnly(message.queue, creating: message.isArrival) { queue in
                queue.receive(message, from: sender)
            }
            if hasMessages { senders.append(message.queue) }
        }
        return senders
    }

    func withState<Answer: Sendable>(
        of name: String,
        creating: Bool = false,
        _ body: (inout MemoryQueueBox.State) throws(BrokerError) -> Answer
    ) throws(BrokerError) -> Answer {
        while true {
            let box = try box(name, creating: creating)
            let answer = try box.state.withLock { state throws(BrokerError) -> Answer? in
                // The queue was deleted after the look-up: this transition belongs to a new one.
                state.isDeleted ? nil : try body(&state)
            }
            if let answer { return answer }
        }
    }

    /// Creates a queue. Returns whether it did not exist before.
    func create(_ name: String) throws(BrokerError) -> Bool {
        let made = try makeBox(name)
        return queuesByName.withLock { queues in
            if queues[name] != nil { return false }
            queues[name] = made
            return true
        }
    }

    /// Deletes a queue, unless it is in use. A transition that has looked it up before looks it up again.
    func forget(_ name: String, force: Bool) throws(BrokerError) -> QueueDeletion {
        guard knownQueues.contains(name) else { return .notFound }
        let (deletion, messages) = try withState(of: name) { state in
            let use = state.queue.use(at: clock())
            if !force, use != .deleted(jobs: 0) { return (use, [MemoryWorkflowMessage]()) }
            state.isDeleted = true
            queuesByName.withLock { $0[name] = nil }
            return (.deleted(jobs: state.queue.jobs.count), state.queue.messagesOfDeletion())
        }
        let senders = try delivery.withLock { _ throws(BrokerError) in try deliver(messages, from: name) }
        for sender in senders { try deliverMessages(of: sender) }
        return deletion
    }

    private func box(_ name: String, creating: Bool) throws(BrokerError) -> MemoryQueueBox {
        if let known = queuesByName.withLock({ $0[name] }) { return known }
        let made = try makeBox(name)
        guard creating else { return made }
        return queuesByName.withLock { queues in
            let box = queues[name] ?? made
            queues[name] = box
            return box
        }
    }

    private func makeBox(_ name: String) throws(BrokerError) -> MemoryQueueBox {
        guard QueueName.isValid(name) else { throw BrokerError(invalidQueue: name) }
        return MemoryQueueBox(name)
    }
}

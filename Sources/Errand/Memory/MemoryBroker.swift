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
    let queue: Mutex<MemoryQueue>

    /// - Parameter listens: whether a session has subscribed to wake-ups.
    init(_ name: String, listens: @escaping @Sendable (_ session: String) -> Bool) {
        var queue = MemoryQueue(name: name)
        queue.listens = listens
        self.queue = Mutex(queue)
    }
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
        while true {
            let box = try box(name, creating: creating)
            let answer = try box.queue.withLock { queue throws(BrokerError) -> Answer? in
                // The queue was deleted after the look-up: this transition belongs to a new one.
                if queue.isDeleted { return nil }
                queue.now = clock()
                let answer = try transition(&queue)
                subscribers.deliver(queue.takeOutbox(), of: name)
                return answer
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
        return try change(name) { queue in
            let use = queue.use
            if !force, use != .deleted(jobs: 0) { return use }
            queue.isDeleted = true
            queuesByName.withLock { $0[name] = nil }
            return .deleted(jobs: queue.jobs.count)
        }
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
        guard QueueName.isValid(name) else {
            throw BrokerError(.refused, "queue \"\(name)\": the name must match [A-Za-z0-9_.-]{1,128}")
        }
        return MemoryQueueBox(name) { [subscribers] in subscribers.isHeard($0, of: name) }
    }
}

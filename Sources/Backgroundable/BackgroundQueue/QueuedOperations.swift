import Foundation

/// The operations of other kinds that are in background queues, in the whole process: Foundation does not say whether an
/// operation is in a queue, and traps if it is added to another one.
final class QueuedOperations: Sendable {
    static let shared = QueuedOperations()

    private let members = Locked<Set<ObjectIdentifier>>([])

    /// Notes that the operation is added to a queue. The caller keeps it alive until it calls ``remove(_:)``.
    func insert(_ operation: Operation) {
        let identifier = ObjectIdentifier(operation)
        members.withLock { _ = $0.insert(identifier) }
    }

    func remove(_ operation: Operation) {
        let identifier = ObjectIdentifier(operation)
        members.withLock { _ = $0.remove(identifier) }
    }

    fileprivate func contains(_ operation: Operation) -> Bool {
        let identifier = ObjectIdentifier(operation)
        return members.withLock { $0.contains(identifier) }
    }
}

extension Operation {
    /// Whether the caller may add the operation to a queue: it runs nowhere and is in no queue, as far as is known: plain
    /// queues of Foundation show by nothing but asking an ``AsyncOperation`` whether it is ready. True once only for such a one.
    final func takeForQueue() -> Bool {
        guard !isExecuting, !isFinished else { return false }
        if let operation = self as? AsyncOperation { return operation.state.enqueue() }
        // A block becomes an operation only in a queue.
        return !(self is QueueBlock) && !QueuedOperations.shared.contains(self)
    }
}

import Foundation

/// The operations of other classes that are in background queues of the process. Foundation has no method for whether
/// an operation is in a queue, and traps if it is added to a second one.
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
    /// Whether the caller may add the operation to a queue: as far as known, it neither runs nor is in a queue.
    ///
    /// A plain queue of Foundation is noticed only because it reads `isReady` of an ``AsyncOperation``. For an
    /// ``AsyncOperation`` this returns true only once.
    final func takeForQueue() -> Bool {
        guard !isExecuting, !isFinished else { return false }
        if let operation = self as? AsyncOperation { return operation.state.enqueue() }
        // A queue block exists only in a queue.
        return !(self is QueueBlock) && !QueuedOperations.shared.contains(self)
    }
}

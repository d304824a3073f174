import Foundation

/// The operations that conditions have run first and that have not finished, in the whole process.
///
/// Several conditions, of one operation or of many, may name the same one: it is added to a queue once, and cancelled when
/// the last of them does not wait for it any more.
final class ConditionDependencies: Sendable {
    static let shared = ConditionDependencies()

    /// How many conditions wait for each.
    private let waiting = Locked<[ObjectIdentifier: Int]>([:])

    /// How many conditions wait for the operation.
    func count(of operation: Operation) -> Int {
        waiting.withLock { $0[ObjectIdentifier(operation)] } ?? 0
    }

    /// Notes that a condition waits for the operation. Returns whether the caller has to add it to a queue.
    func join(_ operation: Operation) -> Bool {
        let identifier = ObjectIdentifier(operation)
        let isFirst = waiting.withLock { waiting in
            defer { waiting[identifier, default: 0] += 1 }
            return waiting[identifier] == nil
        }
        guard isFirst else { return false }
        // Until then the watcher keeps it alive, so no other operation is mistaken for it.
        FinishWatcher.watch(operation) { self.waiting.withLock { $0[identifier] = nil } }
        return !operation.isExecuting && !operation.isFinished
    }

    /// Notes that a condition does not wait for the operation any more. Returns whether no other condition does, though it
    /// has not finished.
    func leave(_ operation: Operation) -> Bool {
        let identifier = ObjectIdentifier(operation)
        return waiting.withLock { waiting in
            guard let count = waiting[identifier] else { return false }
            waiting[identifier] = count - 1
            return count == 1
        }
    }
}

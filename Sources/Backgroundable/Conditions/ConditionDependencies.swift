import Foundation

/// The unfinished dependencies of conditions in the whole process.
///
/// Several conditions, of one operation or of many, may return the same operation. It is added to a queue once, and
/// cancelled when the last condition stops waiting for it.
final class ConditionDependencies: Sendable {
    static let shared = ConditionDependencies()

    private struct Entry {
        /// The number of conditions that wait for it.
        var count = 1
        /// Whether a condition added it to a queue, and therefore may cancel it.
        var isOwn = false
    }

    private let waiting = Locked<[ObjectIdentifier: Entry]>([:])

    /// Returns the number of conditions that wait for the operation.
    func count(of operation: Operation) -> Int {
        waiting.withLock { $0[ObjectIdentifier(operation)]?.count } ?? 0
    }

    /// Notes that a condition waits for the operation. Returns whether the caller has to add it to a queue. An
    /// operation that already runs or is in a queue is only waited for.
    func join(_ operation: Operation) -> Bool {
        let identifier = ObjectIdentifier(operation)
        let isFirst = waiting.withLock { waiting in
            guard waiting[identifier] == nil else {
                waiting[identifier]?.count += 1
                return false
            }
            waiting[identifier] = Entry()
            return true
        }
        guard isFirst else { return false }
        let isOwn = operation.takeForQueue()
        waiting.withLock { $0[identifier]?.isOwn = isOwn }
        // The watcher keeps the operation alive until then, so that no other object has its identity.
        FinishWatcher.watch(operation) { self.waiting.withLock { $0[identifier] = nil } }
        return isOwn
    }

    /// Notes that a condition stops waiting for the operation. Returns whether the caller has to cancel it: a condition
    /// added it, no other condition waits for it, and it has not finished.
    func leave(_ operation: Operation) -> Bool {
        let identifier = ObjectIdentifier(operation)
        return waiting.withLock { waiting in
            guard let entry = waiting[identifier] else { return false }
            waiting[identifier]?.count = entry.count - 1
            return entry.isOwn && entry.count == 1
        }
    }
}

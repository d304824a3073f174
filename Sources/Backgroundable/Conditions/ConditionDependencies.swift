import Foundation

/// The operations that conditions have run first and that have not finished, in the whole process.
///
/// Several conditions, of one operation or of many, may name the same one: it is added to a queue once, and cancelled when
/// the last of them does not wait for it any more.
final class ConditionDependencies: Sendable {
    static let shared = ConditionDependencies()

    private struct Entry {
        /// How many conditions wait for it.
        var count = 1
        /// Whether a condition added it to a queue, and may cancel it.
        var isOwn = false
    }

    private let waiting = Locked<[ObjectIdentifier: Entry]>([:])

    /// How many conditions wait for the operation.
    func count(of operation: Operation) -> Int {
        waiting.withLock { $0[ObjectIdentifier(operation)]?.count } ?? 0
    }

    /// Notes that a condition waits for the operation. Returns whether the caller has to add it to a queue: one that runs, or
    /// is in a queue already, is only waited for.
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
        // Until then the watcher keeps it alive, so no other operation is mistaken for it.
        FinishWatcher.watch(operation) { self.waiting.withLock { $0[identifier] = nil } }
        return isOwn
    }

    /// Notes that a condition does not wait for the operation any more. Returns whether it is to be cancelled: a condition
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

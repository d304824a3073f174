import Foundation

/// The queue of a group's parts. Whatever is added to it, by a part that finds it in `OperationQueue.current` too, is
/// work of the group.
///
/// Unchecked for the reason of its superclass; the one variable here is in a lock.
final class PartQueue: BackgroundQueue, @unchecked Sendable {
    private struct Owner: ~Copyable {
        weak var group: GroupOperation?
    }

    private let owner = Locked(Owner())

    func belong(to group: GroupOperation) {
        owner.withLock { $0.group = group }
    }

    override func takesIn(_ operation: Operation, isHelper: Bool) -> Bool {
        if let group = owner.withLock({ $0.group }), group.takesIn(operation, isHelper: isHelper) { return true }
        GroupOperation.turnAway([operation])
        return false
    }
}

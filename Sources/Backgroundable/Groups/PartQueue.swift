import Foundation

/// The queue of a group's parts. Whatever is added to it, by a part that finds it in `OperationQueue.current` too, is
/// work of the group.
///
/// Unchecked for the reason of its superclass; what is here is in locks.
final class PartQueue: BackgroundQueue, @unchecked Sendable {
    private struct Owner: ~Copyable {
        weak var group: GroupOperation?
    }

    private let owner = Locked(Owner())
    /// Of the parts, and of theirs.
    let tickets = GroupTickets()

    override var maxConcurrentOperationCount: Int {
        get { super.maxConcurrentOperationCount }
        set {
            super.maxConcurrentOperationCount = newValue
            ExclusiveCategories.shared.limit(tickets, to: newValue > 0 ? newValue : nil)
        }
    }

    func belong(to group: GroupOperation) {
        owner.withLock { $0.group = group }
    }

    override func takesIn(_ operation: Operation, isHelper: Bool) -> Bool {
        if let group = owner.withLock({ $0.group }), group.takesIn(operation, isHelper: isHelper) { return true }
        GroupOperation.turnAway([operation])
        return false
    }
}

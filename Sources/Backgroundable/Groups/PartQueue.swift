import Foundation

/// The queue of a group's parts. Every operation that is added to it becomes a part of the group, also through
/// `OperationQueue.current`.
///
/// Unchecked for the same reason as its superclass. The state here is locked.
final class PartQueue: BackgroundQueue, @unchecked Sendable {
    private struct Owner: ~Copyable {
        weak var group: GroupOperation?
    }

    private let owner = Locked(Owner())
    /// The tickets of the parts, and of the parts of nested groups.
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

/// An operation's place in the wait queues of its exclusive categories.
///
/// Unchecked because of its variables, which only ``ExclusiveCategories`` accesses, under its lock.
final class CategoryTicket: @unchecked Sendable {
    let keys: [ExclusiveCategories.Key]
    let onTurn: @Sendable () -> Void
    /// The number of groups around the operation, one within the other.
    let depth: Int
    /// The tickets of the groups around the operation, the nearest one first.
    let around: [GroupTickets]
    /// The tickets of the operation itself, if it is a group.
    let inside: GroupTickets?
    /// The number of wait queues that have other tickets before this one.
    var behind = 0
    /// Whether the operation has begun, so that no other ticket can overtake it.
    var hasBegun = false
    /// Whether other groups may occupy the place in the queue that the operation needs. Set when the ticket enters.
    var needsPlace = false
    var isInLine = false
    var isGone = false

    var categories: Set<String> { Set(keys.map(\.category)) }

    /// - Parameter onTurn: Called when the operation has become the first in all of its wait queues, and again after it
    ///   was overtaken.
    init(_ categories: Set<String>, for operation: AsyncOperation, onTurn: @escaping @Sendable () -> Void) {
        let groups = operation.groupsAround
        keys = categories.map { category in
            let holder = groups.first { $0.attachments?.evaluation.holds(category) == true }
            return ExclusiveCategories.Key(category: category, scope: holder)
        }
        depth = groups.count
        around = groups.map(\.queue.tickets)
        inside = (operation as? GroupOperation)?.queue.tickets
        self.onTurn = onTurn
    }

    /// Whether the operation may wait for more than the tickets before it in one wait queue.
    var leadsOn: Bool { keys.count > 1 || inside != nil }

    /// Whether this ticket overtakes `other`.
    func overtakes(_ other: CategoryTicket) -> Bool {
        !other.hasBegun && other.depth < depth
    }
}

extension AsyncOperation {
    /// The groups around the operation, the nearest one first.
    fileprivate var groupsAround: [GroupOperation] {
        Array(sequence(first: parent) { $0?.parent }.prefix { $0 != nil }.compactMap { $0 })
    }

    /// Makes the operation a part of a group, which shares the hold of the group's categories.
    func enter(_ group: GroupOperation) {
        let hold = group.attachments?.holdForParts
        attach().0.state.withLock { state in
            state.parent = group
            state.holdAround = hold
        }
    }

    /// The group that the operation is a part of.
    var parent: GroupOperation? {
        attachments?.state.withLock { $0.parent }
    }
}

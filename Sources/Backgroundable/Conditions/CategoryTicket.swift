/// An operation's place in the lines of its exclusive categories.
///
/// Unchecked because of its variables, which ``ExclusiveCategories`` touches under its lock only.
final class CategoryTicket: @unchecked Sendable {
    let keys: [ExclusiveCategories.Key]
    let onTurn: @Sendable () -> Void
    /// In how many groups the operation is, one within the other.
    let depth: Int
    /// Of the groups around the operation, the nearest one first.
    let around: [GroupTickets]
    /// Of the group that the operation is.
    let inside: GroupTickets?
    /// How many lines have other tickets before this one.
    var behind = 0
    /// Whether the operation has begun: nobody overtakes it any more.
    var hasBegun = false
    /// Whether groups beside the operation may have the place that it needs. Known when it gets in line.
    var needsPlace = false
    var isInLine = false
    var isGone = false

    var categories: Set<String> { Set(keys.map(\.category)) }

    /// - Parameter onTurn: Called when the operation has become the first in all of its lines; again if it was overtaken.
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

    /// Whether it may wait for more than those before it in one line.
    var leadsOn: Bool { keys.count > 1 || inside != nil }

    /// Whether `other` makes way for this one.
    func overtakes(_ other: CategoryTicket) -> Bool {
        !other.hasBegun && other.depth < depth
    }
}

extension AsyncOperation {
    /// The groups that the operation is in, the nearest one first.
    fileprivate var groupsAround: [GroupOperation] {
        Array(sequence(first: parent) { $0?.parent }.prefix { $0 != nil }.compactMap { $0 })
    }

    /// Notes that the operation is a part of a group, and works in its categories.
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

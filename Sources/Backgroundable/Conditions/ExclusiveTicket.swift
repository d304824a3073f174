/// An operation's place in the lines of its exclusive categories.
///
/// Unchecked because of its variables, which ``ExclusiveLines`` touches under its lock only.
final class ExclusiveTicket: @unchecked Sendable {
    let keys: [ExclusiveLines.Key]
    let onTurn: @Sendable () -> Void
    /// In how many groups the operation is, one within the other.
    let depth: Int
    /// The places of the groups around the operation, which wait for it.
    let around: [ExclusiveTicket]
    /// Whether more than one thing may wait because of it: it has several categories, or is a group.
    let branches: Bool
    /// Those of operations in this group, by identity, until they leave.
    var inside: [ObjectIdentifier: ExclusiveTicket] = [:]
    /// How many lines have other tickets before this one.
    var behind = 0
    /// Whether the operation has begun: nobody overtakes it any more.
    var hasBegun = false
    var isInLine = false
    var isGone = false

    var categories: Set<String> { Set(keys.map(\.category)) }

    /// - Parameter onTurn: Called when the operation has become the first in all of its lines; again if it was overtaken.
    init(_ categories: Set<String>, for operation: AsyncOperation, onTurn: @escaping @Sendable () -> Void) {
        let groups = operation.groupsAround
        keys = categories.map { category in
            let holder = groups.first { $0.attachments?.evaluation.holds(category) == true }
            return ExclusiveLines.Key(category: category, scope: holder)
        }
        depth = groups.count
        around = groups.compactMap { $0.attachments?.evaluation.ticket }
        branches = categories.count > 1 || operation is GroupOperation
        self.onTurn = onTurn
    }

    /// Whether `other` makes way for this one.
    func overtakes(_ other: ExclusiveTicket) -> Bool {
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

/// An operation's place in the lines of its exclusive categories.
///
/// Unchecked because of its variables, which ``ExclusiveLines`` touches under its lock only.
final class ExclusiveTicket: @unchecked Sendable {
    fileprivate let keys: [ExclusiveLines.Key]
    fileprivate let onTurn: @Sendable () -> Void
    /// In how many groups the operation is, one within the other.
    fileprivate let depth: Int
    /// In how many lines somebody is before it.
    fileprivate var behind = 0
    /// Whether the operation has begun: nobody overtakes it any more.
    fileprivate var hasBegun = false
    fileprivate var isGone = false

    var categories: Set<String> { Set(keys.map(\.category)) }

    /// - Parameter onTurn: Called when the operation has become the first in all of its lines; again if it was overtaken.
    init(_ categories: Set<String>, for operation: AsyncOperation, onTurn: @escaping @Sendable () -> Void) {
        keys = categories.map { ExclusiveLines.Key(category: $0, scope: operation.holder(of: $0)) }
        depth = operation.depth
        self.onTurn = onTurn
    }

    /// Whether `other` makes way for this one.
    fileprivate func overtakes(_ other: ExclusiveTicket) -> Bool {
        !other.hasBegun && other.depth < depth
    }
}

/// The lines in which operations wait for their exclusive categories, in the whole process.
///
/// An operation gets in all of its lines in one step and has its turn when it is the first in each. So it is first come,
/// first served, and everybody waits only for those who came before: no circle can arise.
///
/// Parts of a group overtake those who have not begun and are in fewer groups. Such a one may be waiting for the place in
/// its queue that the group has, and the group for its part. The order is still one and the same in every line.
final class ExclusiveLines: Sendable {
    /// The parts of a group that has a category to itself line up among themselves: they must not wait for their group.
    struct Key: Hashable {
        let category: String
        /// Kept, so that its identity is nobody else's.
        let scope: GroupOperation?

        static func == (one: Key, other: Key) -> Bool {
            one.category == other.category && one.scope === other.scope
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(category)
            hasher.combine(scope.map(ObjectIdentifier.init))
        }
    }

    static let shared = ExclusiveLines()

    fileprivate struct State: ~Copyable {
        var lines: [Key: Line<ExclusiveTicket>] = [:]
    }

    private let state = Locked(State())

    /// How many lines there are: none when no operation with a category is under way.
    var count: Int {
        state.withLock { $0.lines.count }
    }

    /// Returns whether it has its turn at once. If not, `onTurn` is called when it has.
    func getInLine(_ ticket: ExclusiveTicket) -> Bool {
        state.withLock { state in
            guard !ticket.isGone else { return false }
            for key in ticket.keys { state.enter(key, ticket) }
            return ticket.behind == 0
        }
    }

    /// The operation begins: from now on nobody overtakes it. False if somebody has.
    func begin(_ ticket: ExclusiveTicket) -> Bool {
        state.withLock { _ in
            guard ticket.behind == 0 else { return false }
            ticket.hasBegun = true
            return true
        }
    }

    func hasBegun(_ ticket: ExclusiveTicket) -> Bool {
        state.withLock { _ in ticket.hasBegun }
    }

    /// Leaves every line, wherever in it the ticket is.
    func leave(_ ticket: ExclusiveTicket) {
        let next: [ExclusiveTicket] = state.withLock { state in
            guard !ticket.isGone else { return [] }
            ticket.isGone = true
            return ticket.keys.compactMap { state.advance($0, past: ticket) }
        }
        for ticket in next { ticket.onTurn() }
    }
}

extension ExclusiveLines.State {
    fileprivate mutating func enter(_ key: ExclusiveLines.Key, _ ticket: ExclusiveTicket) {
        let overtaken = lines[key]?.first
        lines[key, default: Line()].insert(ticket) { ticket.overtakes($0) }
        if lines[key]?.first !== ticket {
            ticket.behind += 1
        } else {
            overtaken?.behind += 1
        }
    }

    /// Lets the line move up if `ticket` was its first. Returns the one who has its turn by that.
    ///
    /// Those who leave from the middle stay where they are until they come to the front: leaving costs no search.
    fileprivate mutating func advance(_ key: ExclusiveLines.Key, past ticket: ExclusiveTicket) -> ExclusiveTicket? {
        guard lines[key]?.first === ticket else { return nil }
        while let first = lines[key]?.first, first.isGone {
            lines[key]?.removeFirst()
        }
        guard let first = lines[key]?.first else {
            lines[key] = nil
            return nil
        }
        first.behind -= 1
        return first.behind == 0 ? first : nil
    }
}

/// First in, first out, each step at constant cost.
struct Line<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var first: Element? {
        head < elements.count ? elements[head] : nil
    }

    /// Inserts an element behind the last one that it does not overtake.
    mutating func insert(_ element: Element, overtaking: (Element) -> Bool) {
        var place = elements.count
        while place > head, let other = elements[place - 1], overtaking(other) { place -= 1 }
        elements.insert(element, at: place)
    }

    mutating func removeFirst() {
        guard head < elements.count else { return }
        elements[head] = nil
        head += 1
        if head > 32, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }
}

extension AsyncOperation {
    /// The nearest group around the operation that has the category to itself.
    fileprivate func holder(of category: String) -> GroupOperation? {
        var parent = parent
        while let group = parent {
            if group.attachments?.evaluation.holds(category) == true { return group }
            parent = group.parent
        }
        return nil
    }

    /// In how many groups the operation is, one within the other.
    fileprivate var depth: Int {
        sequence(first: self as AsyncOperation) { $0.parent }.dropFirst().reduce(0) { depth, _ in depth + 1 }
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

/// The lines in which operations wait for their exclusive categories, in the whole process.
///
/// An operation gets in all of its lines in one step and has its turn when it is the first in each. So it is first come,
/// first served, and everybody waits only for those who came before: of that no circle can arise.
///
/// A part of a group that has begun may close a circle nevertheless, for the group waits for it: by a category that the group
/// did not have when its turn came, or by one that somebody has who needs the group's place in a queue. The part that would
/// close it is turned away (``DeadlockSearch``).
///
/// Parts of a group overtake those who have not begun and are in fewer groups. Such a one may be waiting for the place in
/// its queue that the group has, and the group for its part. The order is still one and the same in every line.
final class ExclusiveCategories: Sendable {
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

    static let shared = ExclusiveCategories()

    /// What becomes of an operation that gets in line.
    enum Place {
        /// It has its turn at once.
        case first
        /// It has to wait.
        case waits
        /// It would wait for what waits for it, for ever: it is in no line.
        case circle
    }

    struct State: ~Copyable {
        var lines: [Key: WaitQueue<CategoryTicket>] = [:]
        /// How many in each line may wait for more than those before them. Without one the line leads nowhere.
        var leads: [Key: Int] = [:]
        /// How many in each line need a place in the queue of a group.
        var needs: [Key: Int] = [:]
        /// How many are in a group that is in a group: without one no group keeps a part from its place.
        var nested = 0

        func leadsOn(_ key: Key) -> Bool {
            leads[key] != nil || nested > 0 && needs[key] != nil
        }
    }

    private let state = Locked(State())

    /// How many lines there are: none when no operation with a category is under way.
    var count: Int {
        state.withLock { $0.lines.count }
    }

    /// Gets in all of its lines, in one step. If it has to wait, `onTurn` is called when it has its turn.
    func getInLine(_ ticket: CategoryTicket) -> Place {
        let (place, next): (Place, [CategoryTicket]) = state.withLock { state in
            guard !ticket.isGone else { return (.waits, []) }
            state.enter(ticket)
            guard ticket.behind > 0 else { return (.first, []) }
            guard DeadlockSearch.finds(ticket, in: state) else { return (.waits, []) }
            return (.circle, state.leave(ticket))
        }
        for ticket in next { ticket.onTurn() }
        return place
    }

    /// How many parts of a group run at once; nil if nothing limits them.
    func limit(_ tickets: GroupTickets, to places: Int?) {
        state.withLock { _ in tickets.places = places }
    }

    /// The operation begins: from now on nobody overtakes it. False if somebody has.
    func begin(_ ticket: CategoryTicket) -> Bool {
        state.withLock { _ in
            guard ticket.behind == 0 else { return false }
            ticket.hasBegun = true
            return true
        }
    }

    func hasBegun(_ ticket: CategoryTicket) -> Bool {
        state.withLock { _ in ticket.hasBegun }
    }

    /// Leaves every line, wherever in it the ticket is.
    func leave(_ ticket: CategoryTicket) {
        let next = state.withLock { $0.leave(ticket) }
        for ticket in next { ticket.onTurn() }
    }
}

extension ExclusiveCategories.State {
    fileprivate mutating func enter(_ ticket: CategoryTicket) {
        ticket.isInLine = true
        ticket.needsPlace = ticket.around.first?.places != nil
        for group in ticket.around { group.tickets[ObjectIdentifier(ticket)] = ticket }
        count(ticket, 1)
        for key in ticket.keys { enter(key, ticket) }
    }

    /// Leaves all lines. Returns those who have their turn by that.
    fileprivate mutating func leave(_ ticket: CategoryTicket) -> [CategoryTicket] {
        guard !ticket.isGone else { return [] }
        ticket.isGone = true
        guard ticket.isInLine else { return [] }
        for group in ticket.around { group.tickets[ObjectIdentifier(ticket)] = nil }
        count(ticket, -1)
        return ticket.keys.compactMap { advance($0, past: ticket) }
    }

    private mutating func count(_ ticket: CategoryTicket, _ change: Int) {
        if ticket.depth > 1 { nested += change }
        for key in ticket.keys {
            if ticket.leadsOn { leads.change(key, by: change) }
            if ticket.needsPlace { needs.change(key, by: change) }
        }
    }

    private mutating func enter(_ key: ExclusiveCategories.Key, _ ticket: CategoryTicket) {
        let overtaken = lines[key]?.first
        lines[key, default: WaitQueue()].insert(ticket) { ticket.overtakes($0) }
        if lines[key]?.first !== ticket {
            ticket.behind += 1
        } else {
            overtaken?.behind += 1
        }
    }

    /// Lets the line move up if `ticket` was its first. Returns the one who has its turn by that.
    ///
    /// Those who leave from the middle stay where they are until they come to the front: leaving costs no search.
    private mutating func advance(_ key: ExclusiveCategories.Key, past ticket: CategoryTicket) -> CategoryTicket? {
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

extension [ExclusiveCategories.Key: Int] {
    /// Keeps no count of zero.
    fileprivate mutating func change(_ key: Key, by change: Int) {
        let count = self[key, default: 0] + change
        self[key] = count > 0 ? count : nil
    }
}

/// The wait queues of exclusive categories in the whole process.
///
/// An operation enters all of its wait queues in one step and has its turn when it is the first in each. So the
/// categories are first come, first served, and every operation waits only for earlier ones; this alone cannot
/// deadlock.
///
/// A part of a group that has begun can nevertheless cause a deadlock, because the group waits for the part: by a
/// category that the group did not have when its turn came, or by a category whose holder needs the group's place in a
/// queue. Such a part is rejected (``DeadlockSearch``).
///
/// Parts of a group overtake operations that have not begun and are in fewer groups. Such an operation may wait for the
/// group's place in a queue while the group waits for its part. The order is still the same in every wait queue.
final class ExclusiveCategories: Sendable {
    /// A wait queue. If a group has the category, its parts have a wait queue of their own, so that they do not wait
    /// for the group.
    struct Key: Hashable {
        let category: String
        /// Retained, so that no other object has its identity.
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

    /// The result of entering the wait queues.
    enum Place {
        /// The operation has its turn immediately.
        case first
        /// The operation has to wait.
        case waits
        /// The operation would deadlock. It is in no wait queue.
        case circle
    }

    struct State: ~Copyable {
        var lines: [Key: WaitQueue<CategoryTicket>] = [:]
        /// For each wait queue, the number of tickets that may wait for more than those before them. Without one, no
        /// search continues there.
        var leads: [Key: Int] = [:]
        /// For each wait queue, the number of tickets that need a place in the queue of a group.
        var needs: [Key: Int] = [:]
        /// The number of tickets in a nested group. Without one, no group occupies a place that a part needs.
        var nested = 0

        func leadsOn(_ key: Key) -> Bool {
            leads[key] != nil || nested > 0 && needs[key] != nil
        }
    }

    private let state = Locked(State())

    /// The number of wait queues. It is 0 if no operation with a category is waiting or running.
    var count: Int {
        state.withLock { $0.lines.count }
    }

    /// Enters all wait queues in one step. If the operation has to wait, `onTurn` is called when it has its turn.
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

    /// Sets how many parts of a group run at the same time. Nil means no limit.
    func limit(_ tickets: GroupTickets, to places: Int?) {
        state.withLock { _ in tickets.places = places }
    }

    /// Notes that the operation begins, so that no other ticket overtakes it. Returns false if one already has.
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

    /// Leaves all wait queues.
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

    /// Leaves all wait queues. Returns the tickets that have their turn because of that.
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

    /// Advances the wait queue if `ticket` was its first. Returns the ticket that has its turn because of that.
    ///
    /// Tickets that leave from the middle stay in place until they reach the front, so leaving needs no search.
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
    /// Changes a count, and removes it at zero.
    fileprivate mutating func change(_ key: Key, by change: Int) {
        let count = self[key, default: 0] + change
        self[key] = count > 0 ? count : nil
    }
}

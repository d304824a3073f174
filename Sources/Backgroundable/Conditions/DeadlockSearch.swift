/// Searches for a deadlock that an operation would cause by waiting for its exclusive categories.
///
/// The operations wait for one another:
/// - an operation in a wait queue waits for all before it;
/// - a group that has begun waits for the operations in it;
/// - a part of a group with limited concurrency waits for one of the places, which sibling groups may occupy.
///
/// The search first collects all operations that can be reached this way. If it reaches the operation itself, it
/// repeatedly removes those that can end without any of the remaining ones. If the operation remains, it would
/// deadlock.
struct DeadlockSearch: ~Copyable {
    private typealias Key = ExclusiveCategories.Key

    private let ticket: CategoryTicket
    private var open: [CategoryTicket]
    private var reached: [ObjectIdentifier: CategoryTicket] = [:]
    /// The groups whose places have been searched.
    private var groups: Set<ObjectIdentifier> = []
    /// For each wait queue, the members up to an index, which have all been noted already.
    private var scanned: [Key: (members: Set<ObjectIdentifier>, end: Int)] = [:]

    private init(_ ticket: CategoryTicket) {
        self.ticket = ticket
        open = [ticket]
    }

    /// Returns whether a ticket that has just entered causes a deadlock. Only an operation in a group can.
    static func finds(_ ticket: CategoryTicket, in state: borrowing ExclusiveCategories.State) -> Bool {
        guard ticket.depth > 0 else { return false }
        var search = DeadlockSearch(ticket)
        while let next = search.open.popLast() { search.follow(next, state) }
        return search.reached[ObjectIdentifier(ticket)] != nil && search.isStuck(state.lines)
    }

    // MARK: Reachable operations

    private mutating func follow(_ next: CategoryTicket, _ state: borrowing ExclusiveCategories.State) {
        if next.hasBegun {
            next.inside?.tickets.values.forEach { note($0) }
            return
        }
        followPlaces(next)
        for key in next.keys {
            // The new ticket has overtaken this one.
            if next !== ticket, ticket.keys.contains(key), ticket.overtakes(next) { note(ticket) }
            if state.leadsOn(key), let line = state.lines[key] { scan(line, key, before: next) }
        }
    }

    private mutating func followPlaces(_ next: CategoryTicket) {
        guard let group = next.around.first, group.places != nil else { return }
        guard groups.insert(ObjectIdentifier(group)).inserted else { return }
        for other in group.tickets.values where other.depth > next.depth { note(other) }
    }

    private mutating func scan(_ line: WaitQueue<CategoryTicket>, _ key: Key, before next: CategoryTicket) {
        guard scanned[key]?.members.contains(ObjectIdentifier(next)) != true else { return }
        var (members, end) = scanned.removeValue(forKey: key) ?? ([], line.places.lowerBound)
        while end < line.places.upperBound, let other = line[end], other !== next {
            end += 1
            members.insert(ObjectIdentifier(other))
            note(other)
        }
        scanned[key] = (members, end)
    }

    private mutating func note(_ other: CategoryTicket) {
        guard !other.isGone, reached.updateValue(other, forKey: ObjectIdentifier(other)) == nil else { return }
        open.append(other)
    }

    // MARK: Operations that can end

    private func isStuck(_ lines: [Key: WaitQueue<CategoryTicket>]) -> Bool {
        var stuck = reached
        var count = 0
        repeat {
            count = stuck.count
            stuck = stuck.filter { DeadlockSearch.waits($0.value, for: stuck, lines) }
        } while stuck.count < count
        return stuck[ObjectIdentifier(ticket)] != nil
    }

    private static func waits(
        _ next: CategoryTicket,
        for others: [ObjectIdentifier: CategoryTicket],
        _ lines: [Key: WaitQueue<CategoryTicket>]
    ) -> Bool {
        if next.hasBegun {
            return next.inside?.tickets.keys.contains { others[$0] != nil } == true
        }
        return hasNoPlace(next, for: others)
            || next.keys.contains { key in lines[key].map { isBehind(others, in: $0, next) } == true }
    }

    private static func isBehind(
        _ others: [ObjectIdentifier: CategoryTicket],
        in line: WaitQueue<CategoryTicket>,
        _ next: CategoryTicket
    ) -> Bool {
        for place in line.places {
            guard let other = line[place], other !== next else { return false }
            if others[ObjectIdentifier(other)] != nil { return true }
        }
        return false
    }

    /// Whether groups that wait for `others` occupy all places of the enclosing group.
    private static func hasNoPlace(
        _ next: CategoryTicket,
        for others: [ObjectIdentifier: CategoryTicket]
    ) -> Bool {
        guard let group = next.around.first, let places = group.places else { return false }
        let beside = group.tickets.values.filter { $0.depth > next.depth && others[ObjectIdentifier($0)] != nil }
        return Set(beside.map { ObjectIdentifier($0.around[$0.depth - next.depth - 1]) }).count >= places
    }
}

/// Looks for a circle that an operation would close by waiting for its exclusive categories.
///
/// Each waits for something:
/// - one in line for all before it;
/// - a group that has begun for the operations in it;
/// - a part of a group that runs only so many at once for one of those places, which groups beside it may have.
///
/// The search first goes wherever that leads. If it leads back to the operation, it takes out of what it has come to whoever
/// can end without the others. The operation closes a circle if it is among those who are left.
struct DeadlockSearch: ~Copyable {
    private typealias Key = ExclusiveCategories.Key

    private let ticket: CategoryTicket
    private var open: [CategoryTicket]
    private var reached: [ObjectIdentifier: CategoryTicket] = [:]
    /// The groups whose places have been looked at.
    private var groups: Set<ObjectIdentifier> = []
    /// Of each line: who stands where nothing new is to be found, and where that ends.
    private var scanned: [Key: (members: Set<ObjectIdentifier>, end: Int)] = [:]

    private init(_ ticket: CategoryTicket) {
        self.ticket = ticket
        open = [ticket]
    }

    /// Whether the ticket, which has just got in line, closes a circle. Only that of an operation in a group can.
    static func finds(_ ticket: CategoryTicket, in state: borrowing ExclusiveCategories.State) -> Bool {
        guard ticket.depth > 0 else { return false }
        var search = DeadlockSearch(ticket)
        while let next = search.open.popLast() { search.follow(next, state) }
        return search.reached[ObjectIdentifier(ticket)] != nil && search.isStuck(state.lines)
    }

    // MARK: Where it leads

    private mutating func follow(_ next: CategoryTicket, _ state: borrowing ExclusiveCategories.State) {
        if next.hasBegun {
            next.inside?.tickets.values.forEach { note($0) }
            return
        }
        followPlaces(next)
        for key in next.keys {
            // It has overtaken the other one.
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

    // MARK: Who can end

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

    /// Whether groups that wait for `others` have all the places of the group around.
    private static func hasNoPlace(
        _ next: CategoryTicket,
        for others: [ObjectIdentifier: CategoryTicket]
    ) -> Bool {
        guard let group = next.around.first, let places = group.places else { return false }
        let beside = group.tickets.values.filter { $0.depth > next.depth && others[ObjectIdentifier($0)] != nil }
        return Set(beside.map { ObjectIdentifier($0.around[$0.depth - next.depth - 1]) }).count >= places
    }
}

/// Looks for a circle that an operation would close by waiting for its exclusive categories.
///
/// One in line waits for all before it. A group that has begun waits for the operations in it. A circle leads from the
/// operation back to it, or to a group around it, which waits for it. Others need not be looked for: each was refused when it
/// would have been closed.
struct CircleSearch: ~Copyable {
    private typealias Key = ExclusiveLines.Key

    private let ticket: ExclusiveTicket
    private let goals: Set<ObjectIdentifier>
    private var open: [ExclusiveTicket]
    private var seen: Set<ObjectIdentifier> = []
    /// Of each line: who stands where nothing new is to be found, and where that ends.
    private var scanned: [Key: (members: Set<ObjectIdentifier>, end: Int)] = [:]

    private init(_ ticket: ExclusiveTicket) {
        self.ticket = ticket
        goals = Set(([ticket] + ticket.around).map(ObjectIdentifier.init))
        open = [ticket]
    }

    /// Whether the ticket, which has just got in line, closes a circle. Only that of an operation in a group can.
    ///
    /// - Parameter branches: How many in each line may lead to another one.
    static func finds(
        _ ticket: ExclusiveTicket,
        in lines: [ExclusiveLines.Key: Line<ExclusiveTicket>],
        _ branches: [ExclusiveLines.Key: Int]
    ) -> Bool {
        guard ticket.depth > 0 else { return false }
        var search = CircleSearch(ticket)
        while let next = search.open.popLast() {
            if search.leads(next, lines, branches) { return true }
        }
        return false
    }

    /// Whether what `next` waits for is a goal. Notes the rest to be looked at.
    private mutating func leads(
        _ next: ExclusiveTicket,
        _ lines: [ExclusiveLines.Key: Line<ExclusiveTicket>],
        _ branches: [ExclusiveLines.Key: Int]
    ) -> Bool {
        if next.hasBegun { return next.inside.values.contains { note($0) } }
        for key in next.keys {
            // It has overtaken the other one.
            if next !== ticket, ticket.keys.contains(key), ticket.overtakes(next) { return true }
            if branches[key] != nil, let line = lines[key], scan(line, key, before: next) { return true }
        }
        return false
    }

    private mutating func scan(_ line: Line<ExclusiveTicket>, _ key: Key, before next: ExclusiveTicket) -> Bool {
        guard scanned[key]?.members.contains(ObjectIdentifier(next)) != true else { return false }
        var (members, end) = scanned.removeValue(forKey: key) ?? ([], line.places.lowerBound)
        defer { scanned[key] = (members, end) }
        while end < line.places.upperBound, let other = line[end], other !== next {
            end += 1
            members.insert(ObjectIdentifier(other))
            if note(other) { return true }
        }
        return false
    }

    /// Returns whether it is a goal.
    private mutating func note(_ other: ExclusiveTicket) -> Bool {
        let identifier = ObjectIdentifier(other)
        guard !other.isGone, seen.insert(identifier).inserted else { return false }
        open.append(other)
        return goals.contains(identifier)
    }
}

/// The groups of a queue: their rules, the slots that claims take, and which groups may run.
package struct MemoryGroups: Sendable, Equatable {
    private(set) var rules: [FlowMatching: FlowRule] = [:]
    /// The claimed jobs of each group, or first part of one, whose claims are limited.
    package internal(set) var slots: [String: Set<String>] = [:]
    /// The groups that are full or rest, with the levels at which they wait.
    package internal(set) var heldBack: [String: Set<Int>] = [:]
    /// The groups that may run, with their virtual times.
    package internal(set) var nodes: [MemoryGroupNode.Place: MemoryGroupNode] = [:]

    /// The job that an ordered group waits for: it has started and not ended.
    package internal(set) var blocked: [String: String] = [:]
    /// Those of them that are dead.
    package internal(set) var deadBlockers: Set<String> = []
    /// Whether the clock may have been set back, so that groups rest for too long.
    package internal(set) var reconsiders = false
    /// Rates and rests.
    package internal(set) var rates = MemoryRates()
    /// The mean run time of claims that were charged by it, in microseconds.
    package internal(set) var meanRun: Int64 = 0
    /// Whether a call has found the whole queue full or at its rate.
    package internal(set) var isQueueHeldBack = false

    private var mostNodes = Self.leastNodes

    private static let leastNodes = 64

    var hasRules: Bool { !rules.isEmpty }

    mutating func setRule(_ pattern: FlowMatching, _ rule: FlowRule?) { rules[pattern] = rule }

    package func rule(of group: GroupName) -> FlowRule {
        rules.filter { $0.key.matches(group) }.max { $0.key.rank < $1.key.rank }?.value ?? FlowRule()
    }

    package func limit(of group: GroupName) -> Int? { rule(of: group).mostAtOnce }

    /// The job other than this one that an ordered group waits for.
    func blocker(of group: GroupName, but id: String? = nil) -> String? {
        guard let order = rule(of: group).order, let blocker = blocked[group.text], blocker != id else { return nil }
        return order == .skipDead && deadBlockers.contains(blocker) ? nil : blocker
    }

    func isFull(_ group: GroupName) -> Bool {
        guard let limit = limit(of: group) else { return false }
        return slots[group.text]?.count ?? 0 >= limit
    }

    func rest(of group: GroupName, at now: Int64) -> (ends: Int64, isByRate: Bool)? {
        rates.rest(of: group.text, rule(of: group), at: now)
    }

    /// Whether a group may not run now, because it is full, rests, or waits for another job than this one.
    package func mustWait(_ group: GroupName, for id: String? = nil, at now: Int64) -> Bool {
        isFull(group) || blocker(of: group, but: id) != nil || rest(of: group, at: now) != nil
    }

    /// How many jobs of a group may start now.
    func free(_ group: GroupName, at now: Int64) -> Int {
        let left = limit(of: group).map { $0 - (slots[group.text]?.count ?? 0) } ?? 1000
        return min(left, rates.free(group.text, rule(of: group), at: now))
    }

    mutating func take(_ id: String, of group: GroupName, at now: Int64) {
        if rule(of: group).order != nil { blocked[group.text] = id }
        guard hasRules else { return }
        takeSlots(id, of: group)
        for part in group.limited { rates.start(part, 1, rule(of: GroupName(valid: part)), at: now) }
    }

    /// Notes until when a group rests. Returns whether it does.
    @discardableResult
    mutating func noteRest(_ group: GroupName, at now: Int64) -> Bool {
        rates.limit(group.text, rule(of: group), at: now)
        guard let ends = rest(of: group, at: now)?.ends else { return false }
        rates.note(group.text, until: ends)
        return true
    }

    /// Gives slots to these claimed jobs by the present rules.
    mutating func takeSlots(of claimed: [(id: String, group: GroupName)]) {
        slots = [:]
        for (id, group) in claimed { takeSlots(id, of: group) }
    }

    private mutating func takeSlots(_ id: String, of group: GroupName) {
        for part in group.limited where limit(of: GroupName(valid: part)) != nil {
            slots[part, default: []].insert(id)
        }
    }

    mutating func free(_ id: String, of part: String) {
        slots[part]?.remove(id)
        if slots[part]?.isEmpty == true { slots[part] = nil }
    }

    /// Forgets nodes without groups, if there are many more than when it did so last.
    mutating func forgetNodes(at now: Int64) {
        guard nodes.count > mostNodes else { return }
        nodes = nodes.filter { !$0.value.eligible.isEmpty || $0.value.isKnown(at: now) }
        mostNodes = max(Self.leastNodes, 2 * nodes.count)
    }

    mutating func holdBack(_ group: GroupName, _ level: Int, at now: Int64) {
        heldBack[group.text, default: []].insert(level)
        noteRest(group, at: now)
    }

    mutating func forgetHeldBack(_ group: GroupName, _ level: Int) {
        heldBack[group.text]?.remove(level)
        if heldBack[group.text]?.isEmpty == true { heldBack[group.text] = nil }
    }
}

/// The groups of a level, or the second parts of one first part at a level, that may run.
package struct MemoryGroupNode: Sendable, Equatable {
    /// A level, and the first part if it is a node of second parts.
    package struct Place: Sendable, Hashable {
        package let level: Int
        package var first: String?

        package init(level: Int, first: String? = nil) {
            self.level = level
            self.first = first
        }

        /// The group of a child.
        func group(_ child: String) -> GroupName { GroupName(valid: first.map { "\($0)/\(child)" } ?? child) }
    }

    /// The virtual times of the children that may run.
    package internal(set) var eligible: [String: Int64] = [:]
    /// Those of children that have left, for a while. The child without a name is the list of jobs in no other child.
    private(set) var left: [String: Int64] = [:]
    /// The present virtual time: that of the last child from which a job was claimed, before it was charged.
    private(set) var present: Int64?
    /// When both are forgotten.
    private var forgotten: Int64 = 0

    /// How long the virtual times are kept when no job is claimed, in milliseconds.
    private static let kept: Int64 = 60_000

    func isKnown(at now: Int64) -> Bool { now < forgotten }

    package func presentTime(at now: Int64) -> Int64 {
        (isKnown(at: now) ? present : nil) ?? eligible.values.min() ?? 0
    }

    /// The time at which a child enters, or at which the list of jobs in no child stands.
    func entryTime(of child: String, at now: Int64) -> Int64 {
        max(presentTime(at: now), isKnown(at: now) ? left[child] ?? 0 : 0)
    }

    mutating func remember(_ child: String, _ time: Int64, at now: Int64) {
        renew(at: now)
        left[child] = time
    }

    /// Moves the virtual time of a child, if it is known.
    mutating func move(_ child: String, by time: Int64, at now: Int64) {
        if let present = eligible[child] {
            eligible[child] = MemoryRules.later(present, by: time)
        } else if isKnown(at: now), let present = left[child] {
            left[child] = MemoryRules.later(present, by: time)
        }
    }

    mutating func leave(_ child: String, at now: Int64) {
        guard let time = eligible.removeValue(forKey: child) else { return }
        remember(child, time, at: now)
    }

    /// Keeps the virtual times for another while.
    mutating func settle(_ present: Int64, at now: Int64) {
        renew(at: now)
        self.present = present
        left = left.filter { $0.value >= present }
    }

    private mutating func renew(at now: Int64) {
        if !isKnown(at: now) { (left, present) = ([:], nil) }
        forgotten = MemoryRules.later(now, by: Self.kept)
    }

    package static func == (one: MemoryGroupNode, other: MemoryGroupNode) -> Bool {
        one.eligible == other.eligible && one.left == other.left && one.present == other.present
    }
}

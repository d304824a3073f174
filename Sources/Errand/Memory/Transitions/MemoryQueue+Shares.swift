/// Shares: the jobs of groups are claimed one after the other, each from the group with the lowest virtual time.
extension MemoryQueue {
    /// What a claim of cost 1 adds to the virtual time of a group of weight 1.
    private static let charge: Int64 = 1000
    /// So many groups are passed over before a call gives up.
    private static let mostPassedOver = 16

    /// Whether jobs with a group, which may run, wait at a level.
    func hasGroups(_ level: Int) -> Bool { groups.nodes[.init(level: level)]?.eligible.isEmpty == false }

    /// Claims jobs of a level, with and without a group.
    mutating func claimGroups(_ most: Int, of level: Int, _ grant: inout MemoryGrant) -> Int {
        let root = MemoryGroupNode.Place(level: level)
        var pass = MemoryGroupPass()
        open(root, &pass)
        grant.charge = estimate(at: level)
        defer { grant.charge = nil }
        var taken = 0
        pass.turnLength = grant.turnLength
        while taken < most, grant.hasRoom, let claimed = claimFirst(of: root, &pass, &grant) {
            if claimed { taken += 1 } else { pass.turn = nil }
        }
        for (place, present) in pass.present {
            groups.nodes[place, default: MemoryGroupNode()].settle(present, at: now)
        }
        groups.forgetNodes(at: now)
        return taken
    }

    /// Whether groups are served job by job, however many jobs a call claims.
    var takesTurnsByJob: Bool { groups.hasRules || hasSecondParts }

    private var hasSecondParts: Bool {
        readyLists.keys.contains { list in
            guard case .group(let group, _) = list else { return false }
            return group.second != nil
        }
    }

    /// The list of the jobs of a node that are in none of its children.
    private func ownList(of place: MemoryGroupNode.Place) -> ReadyListName {
        place.first.map { .group(GroupName(valid: $0), priority: place.level) } ?? .ready(place.level)
    }

    /// The child whose turn it is, or else that with the lowest virtual time, and the first in alphabetical order among
    /// those.
    private func firstChild(of place: MemoryGroupNode.Place, _ pass: MemoryGroupPass) -> (name: String, time: Int64)? {
        var children = groups.nodes[place]?.eligible.map { (name: $0.key, time: $0.value) } ?? []
        if let passed = pass.passedOver[place] { children.removeAll { passed.contains($0.name) } }
        if readyLists[ownList(of: place)] != nil { children.append(("", pass.ownTimes[place] ?? 0)) }
        let first = children.min { ($0.time, $0.name) < ($1.time, $1.name) }
        guard place.first == nil, let turn = pass.turn else { return first }
        return children.first { $0.name == turn.child } ?? first
    }

    /// Claims a job from the first child of a node.
    ///
    /// - Returns: whether it was claimed; `nil` if no child may run.
    private mutating func claimFirst(
        of place: MemoryGroupNode.Place,
        _ pass: inout MemoryGroupPass,
        _ grant: inout MemoryGrant
    ) -> Bool? {
        guard grant.passedOver < Self.mostPassedOver, let child = firstChild(of: place, pass) else { return nil }
        let group = child.name.isEmpty ? nil : place.group(child.name)
        if let group, groups.mustWait(group, at: now) {
            groups.holdBack(group, place.level, at: now)
            leave(child.name, child.time, place)
            return false
        }
        if let group, grant.fillsSlots, groups.rule(of: group).hasLimit {
            return passOver(child.name, of: place, &pass, &grant)
        }
        if let sub = subnode(child.name, place, &pass), firstChild(of: sub, pass) == nil, pass.hasPassedOver(sub) {
            return passOver(child.name, of: place, &pass, &grant)
        }
        let (claimed, isEmpty, cost) = claim(from: child.name, group, place, &pass, &grant)
        var time = child.time
        if claimed == true {
            let beginsTurn = place.first != nil || pass.noteClaim(from: child.name)
            if beginsTurn { pass.present[place] = child.time }
            let weight = group.flatMap { groups.rule(of: $0).weight } ?? 1
            let units = grant.charge?.milliseconds ?? cost
            time = MemoryRules.later(time, by: max(1, Self.charge * units / Int64(weight)))
        }
        if let group, !isEmpty, groups.mustWait(group, at: now) {
            groups.holdBack(group, place.level, at: now)
            leave(child.name, time, place)
        } else if isEmpty {
            leave(child.name, time, place)
            if place.first == nil { pass.turn = nil }
        } else if child.name.isEmpty {
            pass.ownTimes[place] = time
            groups.nodes[place, default: MemoryGroupNode()].remember("", time, at: now)
        } else {
            groups.nodes[place]?.eligible[child.name] = time
        }
        return claimed ?? false
    }

    /// Passes over a child whose jobs are only claimed for a free slot of the worker. It stays eligible.
    private func passOver(
        _ child: String,
        of place: MemoryGroupNode.Place,
        _ pass: inout MemoryGroupPass,
        _ grant: inout MemoryGrant
    ) -> Bool {
        pass.passedOver[place, default: []].insert(child)
        grant.passedOver += 1
        return false
    }

    private mutating func claim(
        from child: String,
        _ group: GroupName?,
        _ place: MemoryGroupNode.Place,
        _ pass: inout MemoryGroupPass,
        _ grant: inout MemoryGrant
    ) -> (claimed: Bool?, isEmpty: Bool, cost: Int64) {
        if let sub = subnode(child, place, &pass) {
            let claimed = claimFirst(of: sub, &pass, &grant)
            let isEmpty =
                claimed == nil || (claimed == true && firstChild(of: sub, pass) == nil && !pass.hasPassedOver(sub))
            return (claimed, isEmpty, grant.lastCost)
        }
        let list = group.map { ReadyListName.group($0, priority: place.level) } ?? ownList(of: place)
        guard let id = readyLists[list]?.first else { return (nil, true, 1) }
        let claimed = claim(id, &grant)
        return (claimed, readyLists[list] == nil, grant.lastCost)
    }

    /// The node of the second parts of a child, if there are any that may run.
    private func subnode(
        _ child: String,
        _ place: MemoryGroupNode.Place,
        _ pass: inout MemoryGroupPass
    ) -> MemoryGroupNode.Place? {
        guard place.first == nil, !child.isEmpty else { return nil }
        let sub = MemoryGroupNode.Place(level: place.level, first: child)
        if pass.present[sub] != nil { return sub }
        guard groups.nodes[sub]?.eligible.isEmpty == false else { return nil }
        open(sub, &pass)
        return sub
    }

    private func open(_ place: MemoryGroupNode.Place, _ pass: inout MemoryGroupPass) {
        let node = groups.nodes[place] ?? MemoryGroupNode()
        pass.present[place] = node.presentTime(at: now)
        pass.ownTimes[place] = node.entryTime(of: "", at: now)
    }

    private mutating func leave(_ child: String, _ time: Int64, _ place: MemoryGroupNode.Place) {
        var node = groups.nodes[place] ?? MemoryGroupNode()
        node.eligible[child] = nil
        node.remember(child, time, at: now)
        groups.nodes[place] = node
    }
}

/// What one call knows of the nodes from which it claims.
struct MemoryGroupPass {
    /// The present virtual times.
    var present: [MemoryGroupNode.Place: Int64] = [:]
    /// The virtual times of the lists of jobs in no child.
    var ownTimes: [MemoryGroupNode.Place: Int64] = [:]
    /// The children that were passed over.
    var passedOver: [MemoryGroupNode.Place: Set<String>] = [:]

    /// How many jobs a child of the root gives in its turn, and the child whose turn it is with the number left.
    var turnLength = 1
    var turn: (child: String, left: Int)?

    /// Counts a claim from a child of the root.
    ///
    /// - Returns: whether the child's turn begins with it.
    mutating func noteClaim(from child: String) -> Bool {
        let isNew = turn?.child != child
        let left = (isNew ? turnLength : turn?.left ?? 1) - 1
        turn = left > 0 ? (child, left) : nil
        return isNew
    }

    func hasPassedOver(_ place: MemoryGroupNode.Place) -> Bool { passedOver[place] != nil }
}

/// Groups: which of them may run. They wait in lists of their own, and are held back while their limit is reached.
extension MemoryQueue {
    private func list(of group: GroupName, _ level: Int) -> ReadyListName { .group(group, priority: level) }

    /// Whether jobs of a group wait at a level; for a first part, jobs of its second parts that may run as well.
    private func waits(_ group: GroupName, _ level: Int) -> Bool {
        if readyLists[list(of: group, level)] != nil { return true }
        guard group.second == nil else { return false }
        return groups.nodes[.init(level: level, first: group.first)]?.eligible.isEmpty == false
    }

    /// Notes that a job was added to a list, which was empty before if it has one now.
    mutating func noteAdded(to list: ReadyListName) {
        guard case .group(let group, let level) = list, readyLists[list]?.count == 1 else { return }
        enter(group, level)
    }

    /// Enters a group among those that may run. It starts no earlier than the present virtual time, so that no group
    /// makes up for its absence.
    private mutating func enter(_ group: GroupName, _ level: Int) {
        if let second = group.second {
            guard enter(second, .init(level: level, first: group.first), group) else { return }
        }
        _ = enter(group.first, .init(level: level), GroupName(valid: group.first))
    }

    private mutating func enter(_ child: String, _ place: MemoryGroupNode.Place, _ group: GroupName) -> Bool {
        if groups.mustWait(group, at: now) {
            groups.holdBack(group, place.level, at: now)
            return false
        }
        var node = groups.nodes[place] ?? MemoryGroupNode()
        if node.eligible[child] == nil { node.eligible[child] = node.entryTime(of: child, at: now) }
        groups.nodes[place] = node
        return true
    }

    /// Wakes a session for a job that was added to a list, unless its group is held back.
    mutating func noteWork(in list: ReadyListName) {
        if case .group(let group, _) = list, mustWait(group) { return }
        effects.newWork += 1
    }

    /// Whether a group or its first part may not run now.
    package func mustWait(_ group: GroupName) -> Bool {
        group.limited.contains { groups.mustWait(GroupName(valid: $0), at: now) }
    }

    /// Notes that a list has become empty otherwise than by a claim.
    mutating func noteEmptied(_ list: ReadyListName) {
        guard case .group(let group, let level) = list else { return }
        if let second = group.second {
            groups.nodes[.init(level: level, first: group.first)]?.leave(second, at: now)
            groups.forgetHeldBack(group, level)
        }
        let first = GroupName(valid: group.first)
        if waits(first, level) { return }
        groups.nodes[.init(level: level)]?.leave(group.first, at: now)
        groups.forgetHeldBack(first, level)
    }

    /// Frees the slots of a job whose claim ends, whatever ends it. This comes before the job's next state. If the claim is
    /// released, its start does not count.
    mutating func freeSlots(of job: MemoryJob, released claim: MemoryClaim? = nil) {
        freeSlotOfQueue(released: claim)
        guard groups.hasRules, let group = job.header.group else { return }
        for part in group.limited {
            groups.free(job.id, of: part)
            if let claim { refund(GroupName(valid: part), claim) }
            returnHeldBack(GroupName(valid: part))
        }
        if readyLists[.quarantined] != nil { effects.newWork += 1 }
    }

    private mutating func refund(_ group: GroupName, _ claim: MemoryClaim) {
        groups.rates.refund(group.text, startedAt: claim.made, groups.rule(of: group), at: now)
    }

    private mutating func freeSlotOfQueue(released claim: MemoryClaim?) {
        guard groups.hasRules else { return }
        if let claim { refund(.wholeQueue, claim) }
        if groups.isQueueHeldBack { (groups.isQueueHeldBack, effects.freesQueue) = (false, true) }
        if effects.freesQueue { effects.newWork += 1 }
    }

    /// Lets a group run again that is no longer full and does not rest.
    private mutating func returnHeldBack(_ group: GroupName) {
        guard groups.heldBack[group.text] != nil, !groups.isFull(group), groups.blocker(of: group) == nil,
            !groups.noteRest(group, at: now),
            let levels = groups.heldBack.removeValue(forKey: group.text)
        else { return }
        for level in levels.sorted() where waits(group, level) {
            enter(group, level)
            effects.newWork += groups.free(group, at: now)
        }
    }

    /// Lets an ordered group go on that waits for a job. Returns whether it did.
    @discardableResult
    mutating func unblockGroup(of job: MemoryJob) -> Bool {
        groups.deadBlockers.remove(job.id)
        guard let group = job.header.group, groups.blocked[group.text] == job.id else { return false }
        groups.blocked[group.text] = nil
        returnHeldBack(group)
        return true
    }

    /// Lets groups run again whose rest is over. Returns how many.
    mutating func returnRested() -> Int {
        let rested = groups.rates.takeRested(at: now)
        for group in rested {
            if group == GroupName.wholeQueue.text {
                effects.newWork += groups.rates.free(group, groups.rule(of: .wholeQueue), at: now)
            } else {
                returnHeldBack(GroupName(valid: group))
            }
        }
        if !rested.isEmpty, readyLists[.quarantined] != nil { effects.newWork += 1 }
        return rested.count
    }

    private var claimsOfSessions: Int { sessions.values.reduce(0) { $0 + $1.claims.count } }

    /// How many jobs the rule of the whole queue lets a call claim, none of them ahead.
    mutating func mostOfQueue(_ wanted: Int, freeSlots: Int) -> (most: Int, isPassedOver: Bool) {
        guard let most = freeOfQueue() else { return (wanted, false) }
        return (min(most, wanted, freeSlots), most > 0 && freeSlots == 0 && !readyLists.isEmpty)
    }

    /// How many jobs the rule of the whole queue lets a session claim; `nil` without such a rule. The queue is full or
    /// rests if it is none. Then the end of a claim or of the rest wakes a session.
    @discardableResult
    mutating func freeOfQueue() -> Int? {
        let rule = groups.rule(of: .wholeQueue)
        guard rule.hasLimit else { return nil }
        let most = min(rule.atOnce.map { $0 - claimsOfSessions } ?? .max, groups.rates.free("", rule, at: now))
        if most <= 0 {
            groups.noteRest(.wholeQueue, at: now)
            groups.isQueueHeldBack = true
        }
        return most
    }

    /// Throws if another rule is as specific, or if there are too many.
    func checkRules(_ pattern: FlowMatching) throws(BrokerError) {
        if let other = groups.rules.keys.first(where: pattern.ties) {
            throw BrokerError(
                .refused,
                "the patterns \"\(pattern.pattern)\" and \"\(other.pattern)\" begin with the same characters before *, so it "
                    + "would be unclear which rule applies; delete one, or write more characters before the * of one"
            )
        }
        guard groups.rules[pattern] != nil || groups.rules.count < FlowRule.mostRules else {
            throw BrokerError(
                .full,
                "the queue has 1000 rules, which is the limit; replace some with a pattern, such as tenant-*"
            )
        }
    }

    /// Sets the rule of a pattern, or removes it. It applies from the next claim on.
    package mutating func setFlow(_ pattern: FlowMatching, _ rule: FlowRule?) {
        groups.setRule(pattern, rule)
        let claimed = sessions.values.flatMap { $0.claims.keys.compactMap { jobs[$0] } }
        groups.takeSlots(of: claimed.compactMap { job in job.header.group.map { (job.id, $0) } })
        reconsiderGroups()
    }

    /// Lets groups run again that are no longer held back, after a change of a rule or of the clock.
    mutating func reconsiderGroups() {
        groups.reconsiders = false
        for group in groups.heldBack.keys.sorted() { returnHeldBack(GroupName(valid: group)) }
        if readyLists[.quarantined] != nil { effects.newWork += 1 }
        if groups.isQueueHeldBack { effects.newWork += 1000 }
        groups.isQueueHeldBack = false
    }

    /// The groups that wait or run, those with the most jobs first; or one of them.
    func groupStatuses(of group: String?, most: Int) -> [GroupStatus] {
        var waiting: [String: Int] = [:]
        var running: [String: Int] = [:]
        var listed: Set<String> = []
        for (list, members) in readyLists {
            guard case .group(let group, _) = list else { continue }
            listed.insert(group.text)
            for part in group.limited { waiting[part, default: 0] += members.count }
        }
        for session in sessions.values {
            for group in session.claims.keys.compactMap({ jobs[$0]?.header.group }) {
                listed.insert(group.text)
                for part in group.limited { running[part, default: 0] += 1 }
            }
        }
        let names =
            group.map { [$0] }
            ?? listed.sorted {
                let one = (waiting[$0] ?? 0, running[$0] ?? 0), other = (waiting[$1] ?? 0, running[$1] ?? 0)
                return one == other ? $0 < $1 : one > other
            }
        return names.prefix(max(most, 0)).map {
            let rest = groups.rest(of: GroupName(valid: $0), at: now)
            return GroupStatus(
                group: $0,
                waiting: waiting[$0] ?? 0,
                held: $0.isEmpty ? claimsOfSessions : running[$0] ?? 0,
                limit: groups.limit(of: GroupName(valid: $0)),
                restingUntil: rest?.ends,
                isAtRate: rest?.isByRate ?? false,
                blocker: groups.blocker(of: GroupName(valid: $0))
            )
        }
    }
}

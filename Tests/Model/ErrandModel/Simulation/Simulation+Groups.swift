import Errand

/// Flow control: half of the seeds have rules, and jobs of groups.
extension Simulation {
    /// The times for which rates hold, in milliseconds.
    private static let windows: [Time] = [100, 300, 600]
    /// For how long a handler lets its group rest.
    static let groupRest = 400

    /// Sets the rules that hold from the beginning, and plans changes in some seeds.
    mutating func setFirstRules() {
        guard usesGroups else { return }
        world.ledger.flow = FlowRecord()
        for _ in 0...numbers.below(3) { setRule() }
        if numbers.chance(40) { agenda.add(.changeRule, at: now + Time(500 + numbers.below(2500))) }
    }

    private mutating func setRule() {
        let pattern = somePattern()
        execute(.flow(pattern, numbers.flowRule(for: pattern, windows: Self.windows)))
    }

    private mutating func somePattern() -> String { Universe.patterns[numbers.below(Universe.patterns.count)] }

    /// Sets or deletes a rule while jobs of its groups wait and run.
    mutating func changeRule() {
        guard faultsStrike else { return }
        agenda.add(.changeRule, at: now + Time(500 + numbers.below(2500)))
        guard now >= brokerIsDownUntil else { return }
        note("rule changed")
        if numbers.chance(60) { setRule() } else { execute(.flow(somePattern(), nil)) }
    }

    /// Gives most jobs a group, and some a cost or an expiry.
    mutating func addGroup(to push: inout Push) {
        guard usesGroups else { return }
        if numbers.chance(85) {
            push.group = numbers.chance(40) ? "g0" : Universe.groups[numbers.below(Universe.groups.count)]
        }
        if numbers.chance(20) { push.cost = 1 + numbers.below(3) }
        if numbers.chance(10) { push.expiresIn = [100, 1000][numbers.below(2)] }
    }

    /// The time until the next push. Jobs of groups come in bursts, so that they wait for each other.
    mutating func pauseBetweenPushes() -> Time {
        guard usesGroups else { return Time(20 + numbers.below(500)) }
        return Time(numbers.chance(70) ? 1 + numbers.below(40) : 400 + numbers.below(1200))
    }

    /// Decides about the dead jobs for which ordered groups and workflows wait, after the last fault.
    mutating func decideAboutDead() {
        agenda.add(.decideAboutDead, at: now + 300)
        for id in world.queue.deadHoldingUpGroups {
            note("group waited for a dead job")
            execute(numbers.chance(40) ? .retry([id]) : .delete([id]))
        }
        for id in deadHoldingUpWorkflows {
            note("workflow waited for a dead job")
            execute(numbers.chance(40) ? .retry([id]) : .delete([id]))
        }
    }

    /// What is left of groups when all jobs have ended, which should be nothing; `nil` if it is.
    var restOfGroups: String? {
        let groups = world.queue.groups
        if !groups.heldBack.isEmpty { return "G6: groups are held back without jobs: \(groups.heldBack)" }
        if !groups.slots.isEmpty { return "G6: slots are left: \(groups.slots)" }
        let eligible = groups.nodes.values.flatMap(\.eligible.keys)
        if !eligible.isEmpty { return "G6: groups without jobs are left: \(eligible)" }
        let waiting = groups.blocked.filter { world.queue.jobs[$0.value]?.isDead != true }
        return waiting.isEmpty ? nil : "G6: groups wait for ended jobs: \(waiting)"
    }

    /// Notes why groups were held back in the last transition.
    mutating func noteHeldBack(_ before: MemoryQueue) {
        let groups = world.queue.groups
        for group in groups.heldBack.keys where before.groups.heldBack[group] == nil {
            let limit = groups.limit(of: GroupName(valid: group))
            if let limit, groups.slots[group]?.count ?? 0 >= limit {
                note("group full")
            } else {
                note(groups.rates.resting[group] == nil ? "group waited for its job" : "group rested")
            }
        }
        if groups.isQueueHeldBack, !before.groups.isQueueHeldBack { note("queue held back") }
        if !world.queue.effects.fullGroups.isEmpty { note("refused by a full group") }
        for event in world.queue.effects.events where event.kind == .expired { note("expired") }
    }
}

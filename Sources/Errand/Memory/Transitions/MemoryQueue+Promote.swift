/// Promote: moves due jobs to their ready lists.
extension MemoryQueue {
    package mutating func promote() -> Promotion {
        var promoted = promoteScheduled() + promoteRetrying() + returnRested()
        if workflows.hasMore { promoted += promoteWorkflows() }
        if !workflows.workflows.isEmpty { trimWorkflows() }
        if groups.reconsiders, !groups.heldBack.isEmpty { reconsiderGroups() }
        let ticks = schedules.values.compactMap(\.nextTick)
        let due = [scheduled.first()?.time, retrying.first()?.time, groups.rates.resting.values.min()]
        let next = workflows.hasMore ? now : (due + ticks.filter { $0 > now }).compactMap(\.self).min()
        return Promotion(
            promoted: promoted,
            nextDue: next.map { Int(clamping: max($0 - now, 0)) },
            hasDueSchedules: ticks.contains { $0 <= now }
        )
    }

    /// Goes on with the dependants of what has ended. More is due now if any are left.
    private mutating func promoteWorkflows() -> Int {
        let admitted = admitReleased()
        continueWorkflows()
        return admitted + (workflows.hasMore ? 1 : 0)
    }

    private mutating func promoteScheduled() -> Int {
        var promoted = 0
        while promoted < MemoryRules.jobsACall, let due = scheduled.first(), due.time <= now {
            move(due.id)
            promoted += 1
        }
        return promoted
    }

    private mutating func promoteRetrying() -> Int {
        var promoted = 0
        while promoted < MemoryRules.jobsACall, let due = retrying.first(), due.time <= now {
            move(due.id)
            promoted += 1
        }
        return promoted
    }

    private mutating func move(_ id: String) {
        removeFromPlace(id)
        enqueue(id)
    }
}

/// Promote: moves due jobs to their ready lists.
extension MemoryQueue {
    package mutating func promote() -> Promotion {
        let promoted = promoteScheduled() + promoteRetrying() + returnRested()
        if groups.reconsiders, !groups.heldBack.isEmpty { reconsiderGroups() }
        let ticks = schedules.values.compactMap(\.nextTick)
        let due = [scheduled.first()?.time, retrying.first()?.time, groups.rates.resting.values.min()]
        let next = (due + ticks.filter { $0 > now }).compactMap(\.self).min()
        return Promotion(
            promoted: promoted,
            nextDue: next.map { Int(clamping: max($0 - now, 0)) },
            hasDueSchedules: ticks.contains { $0 <= now }
        )
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

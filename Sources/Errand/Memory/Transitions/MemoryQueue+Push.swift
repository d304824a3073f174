/// Push: adds jobs to the queue, one after the other.
extension MemoryQueue {
    /// - Parameters:
    ///   - first: The waiting session that is considered for direct dispatch first; the longest-waiting one by default.
    ///   - listens: Whether a session has subscribed to wake-ups. Direct dispatch needs that.
    package mutating func push(
        _ envelopes: [JobEnvelope],
        first: String? = nil,
        listens: (_ session: String) -> Bool = { _ in true }
    ) throws(BrokerError) -> [Receipt] {
        let receipts = try pushJobs(envelopes, refusing: true)
        if envelopes.count == 1, receipts.first?.outcome == .accepted { dispatch(envelopes[0].id, first, listens) }
        return receipts
    }

    /// - Parameters:
    ///   - waiting: whether a job with the policy `drop` waits for the end of a running holder without a successor,
    ///     instead of being dropped.
    ///   - refusing: whether jobs are refused whose group has too many waiting jobs. Their receipts are `unknown`, and
    ///     ``MemoryEffects/fullGroups`` has them.
    mutating func pushJobs(
        _ envelopes: [JobEnvelope],
        waiting: Bool = false,
        refusing: Bool = false
    ) throws(BrokerError) -> [Receipt] {
        let pushes = try Self.checked(envelopes)
        let fitting = countFitting(pushes)
        guard fitting == pushes.count else { throw fullError(fitting, of: pushes.count) }
        return pushes.enumerated().map { index, push in
            if refusing, let group = fullGroup(of: push) {
                effects.fullGroups[index] = group
                return receipt(push, .unknown)
            }
            return decide(push, waiting)
        }
    }

    /// Returns the number of jobs, from the first, for which there is room. A job that the queue already has needs
    /// none: it was pushed before, and gets its receipt even if the queue is full.
    private func countFitting(_ pushes: [MemoryPush]) -> Int {
        var room = settings.maximumLength - jobs.count
        if pushes.count <= room { return pushes.count }
        return pushes.prefix { push in
            guard isUnknown(push) else { return true }
            room -= 1
            return room >= 0
        }.count
    }

    /// The group, or the first part of it, for which a job that is due would be one too many. A job that is known, is
    /// dropped or replaces one adds none.
    private func fullGroup(of push: MemoryPush) -> String? {
        guard let group = push.header.group, groups.hasRules, isUnknown(push), addsJob(push) else { return nil }
        return group.limited.first { part in
            guard let most = groups.rule(of: GroupName(valid: part)).maxWaiting else { return false }
            return waitingJobs(of: GroupName(valid: part)) >= most
        }
    }

    private func addsJob(_ push: MemoryPush) -> Bool {
        if let name = push.throttledName { return push.due <= now && windows.end(of: name, now: now) == nil }
        if let name = push.name, holders[name] != nil { return false }
        return (debounce(push, nil)?.due ?? push.due) <= now
    }

    private func waitingJobs(of group: GroupName) -> Int {
        readyLists.reduce(0) { count, list in
            guard case .group(let other, _) = list.key, other.limited.contains(group.text) else { return count }
            return count + list.value.count
        }
    }

    func fullError(_ fitting: Int, of count: Int) -> BrokerError {
        let what = fitting > 0 ? "has room for \(fitting) of these \(count) jobs" : "is full"
        return BrokerError(
            .full,
            "queue \"\(name)\" \(what): it holds \(jobs.count), its limit is \(settings.maximumLength); "
                + "wait, or raise the limit with errand queue limit \(name)",
            fitting: fitting
        )
    }

    private func isUnknown(_ push: MemoryPush) -> Bool {
        jobs[push.id] == nil && ended.ending(of: push.id, now: now) == nil
    }

    private mutating func decide(_ push: MemoryPush, _ waiting: Bool) -> Receipt {
        let receipt = admit(push, waiting)
        switch receipt.outcome {
        case .accepted, .replaced, .deferred: count(.pushed)
        case .dropped: count(.dropped)
        case .exists, .unknown: break
        }
        return receipt
    }

    private mutating func admit(_ push: MemoryPush, _ waiting: Bool) -> Receipt {
        if !isUnknown(push) { return receipt(push, .exists) }
        return settleName(push, waiting)
    }

    /// Decides about a job by its name.
    mutating func settleName(_ push: MemoryPush, _ waiting: Bool = false) -> Receipt {
        if let name = push.throttledName { return throttle(push, name) }
        guard let jobName = push.name else {
            add(push)
            return receipt(push, .accepted)
        }
        guard let id = holders[jobName], let holder = jobs[id] else {
            let debounce = debounce(push, nil)
            add(push, debounce)
            holders[jobName] = push.id
            return receipt(push, .accepted, until: debounce?.due)
        }
        return push.header.policy == .drop ? drop(push, for: holder, waiting) : replace(holder, by: push)
    }

    /// Drops the new job, unless the holder is running without a successor and was asked to stop (or the new job may
    /// wait for it anyway).
    private mutating func drop(_ push: MemoryPush, for holder: MemoryJob, _ waiting: Bool) -> Receipt {
        if case .claimed = holder.place, holder.stop != nil || waiting, holder.successor == nil {
            deferBehind(holder, push, nil)
            return receipt(push, .deferred, holder: holder.id)
        }
        let survivor = holder.successor ?? holder.id
        publish(.dropped, id: push.id, fragment: push.header.fragment, MemoryEventDetails())
        return Receipt(id: survivor, queue: name, outcome: .dropped, holder: survivor)
    }

    /// Replaces the holder: immediately if it is waiting, otherwise when its claim has ended. Only the policy `replace`
    /// stops a run.
    private mutating func replace(_ holder: MemoryJob, by push: MemoryPush) -> Receipt {
        if case .claimed(let session) = holder.place {
            let debounce = debounce(push, holder.successor.flatMap { jobs[$0] })
            deferBehind(holder, push, debounce)
            if push.header.policy == .replace {
                requestStop(holder.id, of: session, because: holder.stop ?? .replace)
            }
            return receipt(push, .deferred, holder: holder.id, until: debounce?.due)
        }
        let debounce = debounce(push, holder)
        if case .listed(let list) = holder.place, list.hasReadyJobs,
            waitingList(of: holder.header) == waitingList(of: push.header), debounce?.due ?? push.due <= now
        {
            replace(holder, in: list, by: push, debounce)
        } else {
            add(push, debounce)
        }
        if let name = push.name { holders[name] = push.id }
        endReplacedByPush(holder, by: push.id)
        return receipt(push, .replaced, holder: holder.id, until: debounce?.due)
    }

    /// The times of a debounced job: it is due when its window is over, and at the latest when the first job of its
    /// series must run. `nil` for other policies.
    ///
    /// - Parameter former: The job that it replaces.
    private func debounce(_ push: MemoryPush, _ former: MemoryJob?) -> MemoryDebounce? {
        guard push.header.policy == .debounce else { return nil }
        let own = push.atMost > 0 ? MemoryRules.later(now, by: push.atMost) : nil
        let latest = former?.debounce?.latest ?? own
        let due = MemoryRules.later(now, by: push.window)
        return MemoryDebounce(due: min(due, latest ?? due), latest: latest)
    }

    private mutating func replace(
        _ holder: MemoryJob,
        in list: ReadyListName,
        by push: MemoryPush,
        _ debounce: MemoryDebounce?
    ) {
        jobs[push.id] = push.job(at: now, readySince: holder.readySince, place: .listed(list), debounce)
        readyLists[list]?.replace(holder.id, with: push.id)
    }

    private mutating func deferBehind(_ holder: MemoryJob, _ push: MemoryPush, _ debounce: MemoryDebounce?) {
        jobs[push.id] = push.job(at: now, place: .deferred(behind: holder.id), debounce)
        if let older = holder.successor.flatMap({ jobs[$0] }) { endReplacedByPush(older, by: push.id) }
        jobs[holder.id]?.successor = push.id
    }

    private mutating func endReplacedByPush(_ old: MemoryJob, by newer: String) {
        let event = publish(.replaced, of: old, MemoryEventDetails())
        endReplaced(old.id, event: event, newer: newer)
    }

    mutating func add(_ push: MemoryPush, _ debounce: MemoryDebounce? = nil) {
        jobs[push.id] = push.job(at: now, place: .scheduled, debounce)
        enqueue(push.id, due: debounce?.due ?? push.due)
    }

    private func receipt(
        _ push: MemoryPush,
        _ outcome: Receipt.Outcome,
        holder: String? = nil,
        until: Int64? = nil
    ) -> Receipt {
        Receipt(id: push.id, queue: name, outcome: outcome, holder: holder, until: until)
    }

    /// Marks a running job to stop and wakes its session.
    mutating func requestStop(_ id: String, of session: String, because reason: MemoryJob.StopReason) {
        jobs[id]?.stop = reason
        effects.add(.stop(queue: name), for: session)
    }
}

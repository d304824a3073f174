import Errand

/// What is promised of a single transition, by the queue before it and after it. Only what the exploration and the
/// simulation have in common is here; what needs a memory of its own is with them.
extension MemoryQueue {
    /// Which promise the last transition broke, or `nil`. The exploration asks tens of millions of times: each job is
    /// looked at once, and most have not been touched.
    func brokenStep(
        _ command: Command,
        _ answer: Answer,
        _ published: MemoryEffects,
        since before: MemoryQueue
    ) -> String? {
        if let broken = brokenReceipt(command, answer, published, since: before) { return broken }
        for job in before.jobs.values {
            if let broken = brokenSuccession(of: job, command) { return broken }
            if let broken = brokenLimit(of: job, command, published, since: before) { return broken }
        }
        return brokenResend(of: command, answer) ?? brokenWorkflowStep(published, since: before)
    }

    // MARK: Names

    /// S1, S10, S11: what a push is told is so. Of several in one call the last is looked at, since the others may have
    /// given way to it. No queue that is judged is ever full; a group may be.
    private func brokenReceipt(
        _ command: Command,
        _ answer: Answer,
        _ published: MemoryEffects,
        since before: MemoryQueue
    ) -> String? {
        guard case .push(let pushes, _) = command, let push = pushes.last else { return nil }
        guard case .receipts(let receipts) = answer, let receipt = receipts.last else { return "no receipt" }
        switch (receipt.outcome, receipt.holder) {
        case (.exists, _): return nil
        case (.accepted, _):
            if jobs[push.id] == nil { return "S1: job \(push.id) was accepted, and is not there" }
            return pushes.count == 1 ? brokenAcceptance(of: push.id, since: before) : nil
        case (.unknown, _): return brokenRefusal(of: push.id, published.fullGroups[pushes.count - 1], since: before)
        case (.dropped, let other?): return brokenDrop(push, for: other)
        case (.replaced, let older?): return brokenReplacement(push, of: older)
        case (.deferred, let holder?): return brokenWait(push, behind: holder, before.jobs[holder]?.successor)
        default: return "\(receipt) does not say which job holds the name"
        }
    }

    /// S10: it was dropped for a job that lives, and has the name or waits for it.
    private func brokenDrop(_ push: JobEnvelope, for other: String) -> String? {
        guard jobs[push.id] == nil else { return "S10: \(push.id) was dropped, and is there" }
        if jobs[other]?.isDead != false { return "S10: dropped for \(other), which does not live" }
        let holder = push.name.flatMap { holders[MemoryName($0)] }
        let isOfThatName = holder == other || holder.flatMap { jobs[$0]?.successor } == other
        return isOfThatName ? nil : "S10: dropped for \(other), which has another name"
    }

    /// S11: it has the name of the job that it replaced.
    private func brokenReplacement(_ push: JobEnvelope, of older: String) -> String? {
        guard jobs[push.id] != nil, let name = push.name, holders[MemoryName(name)] == push.id else {
            return "S11: \(push.id) has replaced \(older), and does not have its name"
        }
        return hasGivenWay(older) ? nil : "S11: \(older) did not give way to \(push.id)"
    }

    /// S11: it is what comes next when the holder has stopped, and no older one does.
    private func brokenWait(_ push: JobEnvelope, behind holder: String, _ older: String?) -> String? {
        guard jobs[push.id]?.predecessor == holder, jobs[holder]?.successor == push.id else {
            return "S11: \(push.id) does not wait behind \(holder)"
        }
        if jobs[holder]?.stop == nil { return "S11: \(holder) is not to stop for \(push.id)" }
        guard let older, !hasGivenWay(older) else { return nil }
        return "S11: \(older), which waited before, did not give way to \(push.id)"
    }

    private func hasGivenWay(_ id: String) -> Bool {
        jobs[id] == nil && ended.ending(of: id, now: now) == .replaced
    }

    /// S11: when a claim has ended behind which a job waited, that job goes on instead: it has the name, and is in line,
    /// or waits for its own time and for nothing else.
    private func brokenSuccession(of job: MemoryJob, _ command: Command) -> String? {
        guard let waited = job.successor, jobs[job.id]?.successor != waited else { return nil }
        guard let successor = jobs[waited] else {
            switch command {
            // A newer one came, or nobody wants it any more.
            case .push, .cancel, .delete, .clear: return nil
            // The newer one is a job of a workflow that came free.
            case .promote where ended.ending(of: waited, now: now) == .replaced: return nil
            // The claim of the same call met it after its expiry.
            case .exchange where ended.ending(of: waited, now: now) == .expired: return nil
            default: return "S11: \(waited) ended with the claim that it waited for"
            }
        }
        if jobs[job.id]?.isDead == false { return "S11: \(job.id) goes on, though \(waited) waited behind it" }
        // Claimed in the same call, it may have let the name go already.
        if let name = successor.heldName, holders[name] != waited {
            return "S11: \(waited) does not have the name that it waited for"
        }
        switch successor.place {
        case .listed, .claimed: return nil
        case .scheduled where successor.due > now && scheduled[waited] == successor.due: return nil
        default: return "S11: \(waited) is at \(successor.place), though nobody is before it"
        }
    }

    // MARK: Limits

    /// S13: runs that failed and workers that died are counted, once each, and a job goes on only while it may be tried
    /// again.
    private func brokenLimit(
        of job: MemoryJob,
        _ command: Command,
        _ published: MemoryEffects,
        since before: MemoryQueue
    ) -> String? {
        guard let left = jobs[job.id] else { return nil }
        if job.isDead { return left.isDead ? nil : brokenRevival(left, command) }
        let isUncounted = left.failures == job.failures && left.crashes == job.crashes
        if isUncounted, !left.isDead, published.events.isEmpty { return nil }
        let (failed, crashed) = losses(of: job, published, since: before)
        if left.failures != job.failures + failed {
            return "S13: \(job.id) has failed \(left.failures) times, which were \(job.failures + failed)"
        }
        if left.crashes != job.crashes + crashed {
            return "S13: \(job.id) has crashed \(left.crashes) times, which were \(job.crashes + crashed)"
        }
        if left.isDead { return mayDie(job, left, command, since: before) ? nil : "S13: \(job.id) died too early" }
        // By the session that it failed in: while it waits, nobody says how often it may be tried.
        if failed > 0, left.failures > before.retries(of: job) {
            return "S13: \(job.id) goes on after \(left.failures) attempts"
        }
        return nil
    }

    /// S9, S13: what is dead comes back only when somebody asks for it, and starts anew.
    private func brokenRevival(_ left: MemoryJob, _ command: Command) -> String? {
        guard case .retry = command else { return "S9: job \(left.id) was dead" }
        return left.failures + left.crashes + left.soloCrashes == 0 && !left.hasComeBack
            ? nil : "S13: \(left.id) did not start anew"
    }

    /// How many of its runs failed in the last transition, and how many of its workers died after it had begun, or not for the first time.
    private func losses(
        of job: MemoryJob,
        _ published: MemoryEffects,
        since before: MemoryQueue
    ) -> (failed: Int, crashed: Int) {
        var (failed, crashed) = (0, 0)
        for event in published.events where event.id == job.id {
            switch event.kind {
            case .failed, .timedOut: failed += 1
            case .recovered: if before.hasBegun(job) || job.hasComeBack { crashed += 1 }
            default: break
            }
        }
        return (failed, crashed)
    }

    /// S13: its worker said that it is not to be tried again, or cannot be read; or was stuck with its last attempt, or
    /// died with it alone for the fourth time. Bodies that are missing are not in the model.
    private func mayDie(_ job: MemoryJob, _ left: MemoryJob, _ command: Command, since before: MemoryQueue) -> Bool {
        switch command {
        case .exchange(let call):
            let token = before.sessions[call.session.id]?.claims[job.id]?.token
            let report = call.reports.first { $0.id == job.id && $0.token == token }
            switch report?.verb {
            case .unreadable: return true
            case .failed, .timedOut: return report?.retryDelay == nil
            default: return false
            }
        case .recover:
            if left.crashes > job.crashes { return job.isQuarantined && left.soloCrashes == 4 }
            return left.failures > job.failures && left.failures > before.retries(of: job)
        default: return false
        }
    }

    /// How often a job may be tried again: as it says itself, or as its operation does where it runs.
    private func retries(of job: MemoryJob) -> Int {
        if let retries = job.header.retries { return retries }
        guard let operation = job.header.operation else { return 0 }
        return job.holder.flatMap { sessions[$0]?.operations[operation]?.retries } ?? 0
    }

    private func hasBegun(_ job: MemoryJob) -> Bool {
        guard let session = job.holder.flatMap({ sessions[$0] }), let claim = session.claims[job.id] else {
            return false
        }
        return claim.token <= session.begun
    }

    // MARK: Calls that are made twice

    /// S15: made once more, a transition changes no job and is answered the same.
    private func brokenResend(of command: Command, _ answer: Answer) -> String? {
        switch command {
        case .exchange, .push, .reconcile, .release, .cancel, .retry: break
        default: return nil
        }
        var copy = self
        let again = copy.apply(command, at: now)
        guard copy.jobs == jobs, copy.readyLists == readyLists, copy.holders == holders else {
            return "S15: a resend of \(command) changes jobs"
        }
        if case .exchanged(let reply) = answer {
            guard case .exchanged(let repeated) = again, repeated.accepted == reply.accepted,
                repeated.claims == reply.claims
            else { return "S15: a resend is answered \(again)" }
        }
        return nil
    }
}

import Errand

extension World {
    /// Makes a transition and judges it by what was promised.
    mutating func observe(_ command: Command) -> (answer: Answer, broken: String?) {
        let before = broker
        var after = broker.queue
        let answer = after.apply(command, at: now)
        effects = after.effects
        after.dropWhatIsOnlyShown()
        broker = SharedQueue(consume after)
        outage.note(command, answer, at: now)
        let broken =
            broker.queue.brokenInvariant ?? broker.queue.brokenStep(command, answer, effects, since: before.queue)
            ?? brokenPromise(command, answer, before.queue)
        witness(command, answer, before.queue)
        if let dispatch = effects.dispatch { hints.append(dispatch) }
        effects = MemoryEffects()
        return (answer, broken)
    }

    /// What is judged by what is known outside the broker, or more strictly since a scope has nothing else in it.
    private mutating func brokenPromise(_ command: Command, _ answer: Answer, _ before: MemoryQueue) -> String? {
        brokenLife(before) ?? brokenFence(command, answer, before) ?? brokenClaim(before) ?? brokenTime(before)
            ?? brokenEvents(command, before) ?? brokenGrace(command, answer) ?? brokenDeadline(command, before)
            ?? brokenRule(before)
    }

    /// S1, S9: what was accepted is there or has visibly ended; what has ended does not come back.
    private func brokenLife(_ before: MemoryQueue) -> String? {
        for id in Self.ids.prefix(pushed) {
            let wasOver = before.ended.ending(of: id, now: now) != nil
            if broker.queue.jobs[id] != nil {
                if wasOver { return "S9: job \(id) came back after its end" }
            } else if wasOver || before.jobs[id] != nil, broker.queue.ended.ending(of: id, now: now) == nil,
                !broker.queue.hasPassedOnItsPlace(id)
            {
                return "S1: job \(id) is lost"
            }
        }
        return nil
    }

    /// S4: a report counts only from the session that holds the claim, and with its token.
    private func brokenFence(_ command: Command, _ answer: Answer, _ before: MemoryQueue) -> String? {
        guard case .exchange(let call) = command, case .exchanged(let reply) = answer else { return nil }
        if before.sessions[call.session.id]?.lastCall?.number == call.call { return nil }
        for (report, counted) in zip(call.reports, reply.accepted) {
            let holds = before.sessions[call.session.id]?.claims[report.id]?.token == report.token
            if holds != counted { return "S4: the report of \(report.id) \(counted ? "counted" : "did not count")" }
        }
        return nil
    }

    /// S5: new claims have tokens that nobody ever had.
    private mutating func brokenClaim(_ before: MemoryQueue) -> String? {
        let greatest = greatestToken
        for (id, session) in broker.queue.sessions {
            for (job, claim) in session.claims where before.sessions[id]?.claims[job]?.token != claim.token {
                if claim.token <= greatest { return "S5: token \(claim.token) is not new" }
                greatestToken = max(greatestToken, claim.token)
                if rules.clockLeaps { claimTimes[claim.token] = now - leapt }
            }
        }
        return nil
    }

    /// S6: nothing comes into line before its time.
    private func brokenTime(_ before: MemoryQueue) -> String? {
        for job in broker.queue.jobs.values where job.due > now {
            switch (before.jobs[job.id]?.place, job.place) {
            case (nil, .listed), (.scheduled, .listed), (.deferred, .listed):
                return "S6: job \(job.id) is in line too early"
            default: continue
            }
        }
        for job in before.jobs.values {
            if job.place == .retrying, before.retrying[job.id] ?? 0 > now,
                case .listed = broker.queue.jobs[job.id]?.place
            {
                return "S6: job \(job.id) is tried again too early"
            }
        }
        return nil
    }

    /// S14 and promise 4: each claim that ended published one ending, and nothing else did.
    private func brokenEvents(_ command: Command, _ before: MemoryQueue) -> String? {
        // A run that did not really take place publishes only what becomes of the job.
        var quiet: Set<String> = []
        if case .exchange(let call) = command {
            for report in call.reports where [.snoozed, .unroutable, .unreadable].contains(report.verb) {
                quiet.insert(report.id)
            }
        }
        var published: [String: Int] = [:]
        for event in effects.events where event.endsAClaim {
            published[event.id, default: 0] += 1
        }
        for (session, state) in before.sessions {
            for (job, claim) in state.claims {
                let isOver = broker.queue.sessions[session]?.claims[job]?.token != claim.token
                let count = published.removeValue(forKey: job) ?? 0
                if count != (isOver ? 1 : 0), !(isOver && count == 0 && quiet.contains(job)) {
                    return "S14: the end of \(job)'s claim was not published once"
                }
            }
        }
        return published.keys.first.map { "S14: an end of \($0) was published, but it had no claim" }
    }

    /// S17: while nobody could beat, and a lease's time after that, nobody is robbed.
    private func brokenGrace(_ command: Command, _ answer: Answer) -> String? {
        guard case .recover = command, case .recovered(let recovery) = answer,
            recovery.recovered > 0 || recovery.hasMore
        else { return nil }
        return outage.isGrace(at: now) ? "S17: robbed in the grace after an outage" : nil
    }

    /// A claim is taken back only from a session that was silent for a lease, or after its hard deadline. Where the clock
    /// jumps, leases may look longer or shorter than they were, but a run still has all of its time.
    private func brokenDeadline(_ command: Command, _ before: MemoryQueue) -> String? {
        guard case .recover = command else { return nil }
        for (id, session) in before.sessions {
            for (job, claim) in session.claims where broker.queue.sessions[id]?.claims[job] == nil {
                let isSilent =
                    broker.queue.sessions[id] == nil && (rules.clockLeaps || session.lastBeat + Self.lease <= now)
                let isOverdue = broker.queue.sessions[id] != nil && realAge(of: claim.token) > Self.hardDeadline
                if !isSilent && !isOverdue { return "the claim of \(job) was taken back too early" }
            }
        }
        return nil
    }

    /// How long ago a claim was made, whatever the clock says.
    func realAge(of token: Token) -> Time {
        now - leapt - claimTimes[token, default: Time(token / 1000)]
    }
}

extension MemoryQueue {
    /// What is only counted or shown does not make worlds differ.
    fileprivate mutating func dropWhatIsOnlyShown() {
        effects = MemoryEffects()
        totals = [:]
        history = MemoryHistory()
        for job in jobs.values where !job.errors.events.isEmpty { jobs[job.id]?.errors = KeptErrors() }
    }
}

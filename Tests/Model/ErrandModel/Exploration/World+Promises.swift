extension World {
    /// Makes a transition and judges it by what was promised.
    mutating func observe(_ command: Command) -> (answer: Answer, broken: String?) {
        let before = queue
        let answer = queue.apply(command, at: now)
        outage.note(command, answer, at: now)
        let broken =
            queue.brokenInvariant ?? queue.brokenStep(command, answer, since: before)
            ?? brokenPromise(command, answer, before)
        witness(command, answer, before)
        if let handed = queue.effects.handed { hints.append(handed) }
        // What is only counted or shown does not make worlds differ.
        queue.effects = Effects()
        queue.totals = [:]
        queue.history = []
        return (answer, broken)
    }

    /// What is judged by what is known outside the broker, or more strictly since a scope has nothing else in it.
    private mutating func brokenPromise(_ command: Command, _ answer: Answer, _ before: QueueModel) -> String? {
        brokenLife(before) ?? brokenFence(command, answer, before) ?? brokenClaim(before) ?? brokenTime(before)
            ?? brokenEvents(command, before) ?? brokenGrace(command, answer) ?? brokenDeadline(command, before)
    }

    /// S1, S9: what was accepted is there or has visibly ended; what has ended does not come back.
    private func brokenLife(_ before: QueueModel) -> String? {
        for id in 0..<pushed {
            let wasOver = before.ended.ending(of: id, at: now) != nil
            let isThere = queue.jobs[id] != nil
            if before.jobs[id] != nil || wasOver, !isThere, queue.ended.ending(of: id, at: now) == nil {
                return "S1: job \(id) is lost"
            }
            if wasOver, isThere { return "S9: job \(id) came back after its end" }
        }
        return nil
    }

    /// S4: a report counts only from the session that holds the claim, and with its token.
    private func brokenFence(_ command: Command, _ answer: Answer, _ before: QueueModel) -> String? {
        guard case .exchange(let call) = command, case .exchanged(let accepted, _, _, _, _) = answer else { return nil }
        if before.sessions[call.session]?.lastCall?.number == call.number { return nil }
        for (report, counted) in zip(call.reports, accepted) {
            let holds = before.sessions[call.session]?.claim(of: report.id)?.token == report.token
            if holds != counted { return "S4: the report of \(report.id) \(counted ? "counted" : "did not count")" }
        }
        return nil
    }

    /// S5: new claims have tokens that nobody ever had.
    private mutating func brokenClaim(_ before: QueueModel) -> String? {
        let greatest = greatestToken
        for (id, session) in queue.sessions {
            for claim in session.claims where before.sessions[id]?.claim(of: claim.id)?.token != claim.token {
                if claim.token <= greatest { return "S5: token \(claim.token) is not new" }
                greatestToken = max(greatestToken, claim.token)
                if rules.clockLeaps { claimTimes[claim.token] = now - leapt }
            }
        }
        return nil
    }

    /// S6: nothing comes into line before its time.
    private func brokenTime(_ before: QueueModel) -> String? {
        for job in queue.jobs.values where job.pushed.due > now {
            switch (before.jobs[job.id]?.place, job.place) {
            case (nil, .line), (.scheduled, .line), (.behind, .line): return "S6: job \(job.id) is in line too early"
            default: continue
            }
        }
        for job in before.jobs.values {
            if case .retrying(let time) = job.place, time > now, queue.jobs[job.id]?.place != job.place,
                case .line = queue.jobs[job.id]?.place
            {
                return "S6: job \(job.id) is tried again too early"
            }
        }
        return nil
    }

    /// S14 and promise 4: each claim that ended published one ending, and nothing else did.
    private func brokenEvents(_ command: Command, _ before: QueueModel) -> String? {
        // A run that did not really take place publishes only what becomes of the job.
        var quiet: Set<JobID> = []
        if case .exchange(let call) = command {
            for report in call.reports where [.snoozed, .parked, .unreadable].contains(report.verb) {
                quiet.insert(report.id)
            }
        }
        var published: [JobID: Int] = [:]
        for event in queue.effects.events where event.worker != nil && Self.endings.contains(event.kind) {
            published[event.id, default: 0] += 1
        }
        for (session, state) in before.sessions {
            for claim in state.claims {
                let isOver = queue.sessions[session]?.claim(of: claim.id)?.token != claim.token
                let count = published.removeValue(forKey: claim.id) ?? 0
                if count != (isOver ? 1 : 0), !(isOver && count == 0 && quiet.contains(claim.id)) {
                    return "S14: the end of \(claim.id)'s claim was not published once"
                }
            }
        }
        return published.keys.first.map { "S14: an end of \($0) was published, but it had no claim" }
    }

    private static let endings: Set<EventKind> = [.finished, .failed, .timedOut, .cancelled, .released, .recovered]

    /// S17: while nobody could beat, and a lease's time after that, nobody is robbed.
    private func brokenGrace(_ command: Command, _ answer: Answer) -> String? {
        guard case .recover = command, case .recovered(let count, let endsSession) = answer, count > 0 || endsSession
        else {
            return nil
        }
        return outage.isGrace(at: now) ? "S17: robbed in the grace after an outage" : nil
    }

    /// A claim is taken back only from a session that was silent for a lease, or after its hard deadline. Where the clock
    /// jumps, leases may look longer or shorter than they were, but a run still has all of its time.
    private func brokenDeadline(_ command: Command, _ before: QueueModel) -> String? {
        guard case .recover = command else { return nil }
        for (id, session) in before.sessions {
            for claim in session.claims where queue.sessions[id]?.claim(of: claim.id) == nil {
                let isSilent =
                    queue.sessions[id] == nil && (rules.clockLeaps || session.lastBeat + Self.lease <= now)
                let isOverdue = queue.sessions[id] != nil && realAge(of: claim.token) > Self.hardDeadline
                if !isSilent && !isOverdue { return "the claim of \(claim.id) was taken back too early" }
            }
        }
        return nil
    }

    /// How long ago a claim was made, whatever the clock says.
    func realAge(of token: Token) -> Time {
        now - leapt - claimTimes[token, default: token / 1000]
    }
}

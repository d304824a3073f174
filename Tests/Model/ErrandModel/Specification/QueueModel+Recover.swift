/// Takes back what dead sessions held, and what live ones hold past its hard deadline.
extension QueueModel {
    mutating func recover(look: SessionID?) -> Answer {
        if let lastBeat, abs(now - (gapNoticed ?? lastBeat)) > longestLease / 2 {
            grantGrace(longestLease)
            gapNoticed = now
            return .recovered(0, more: false)
        }
        if gapNoticed != nil { gapNoticed = now }
        // No grace is longer than a lease, unless the clock was put back.
        if graceEnds > now, graceEnds <= now + longestLease { return .recovered(0, more: false) }
        let dead = sessions.filter { $0.value.leaseEnds <= now }
            .min { ($0.value.leaseEnds, $0.key) < ($1.value.leaseEnds, $1.key) }
        if let dead { return .recovered(takeBack(dead.key, dead.value), more: true) }
        let looked = look.map { [$0] } ?? sessions.keys.sorted()
        return .recovered(looked.reduce(0) { $0 + endOverdue(of: $1) }, more: false)
    }

    private mutating func takeBack(_ id: SessionID, _ session: SessionState) -> Int {
        let heldOne = solo == id && session.claims.count == 1
        for claim in session.claims.reversed() {
            guard let job = jobs[claim.id], returnClaim(job, id, as: .recovered) else { continue }
            // It may have begun without word, and ended its worker: once that is chance.
            let isSuspicious = claim.token <= session.begun || job.hasComeBack
            jobs[job.id]?.hasComeBack = true
            if isSuspicious, crash(job, id, alone: heldOne && job.isSuspect) { continue }
            giveBack(job.id)
        }
        endSession(id)
        return session.claims.count
    }

    /// Counts a crash. Answers whether the job is set aside for it: the fourth time that it alone killed its worker.
    private mutating func crash(_ job: Job, _ session: SessionID, alone: Bool) -> Bool {
        jobs[job.id]?.crashes += 1
        guard alone else { return false }
        jobs[job.id]?.crashesAlone += 1
        guard job.crashesAlone + 1 >= 4 else { return false }
        let reason = Reason.killsItsWorkers(crashes: job.crashes + 1, alone: job.crashesAlone + 1)
        die(job.id, Run(attempt: job.failures + 1, worker: session, reason: reason))
        return true
    }

    private mutating func endOverdue(of id: SessionID) -> Int {
        guard let session = sessions[id] else { return 0 }
        let overdue = session.claims.filter { claim in
            // Claims from before the broker or its clock was away have their time anew.
            (claim.made < leap ? leap + claim.deadline - claim.made : claim.deadline) < now
        }
        for claim in overdue {
            guard let job = jobs[claim.id] else { continue }
            // A job that was handed over, and of which the worker has not heard, is nothing that it could have ended.
            if claim.token == session.handed, claim.token > session.begun {
                if returnClaim(job, id, as: .released) { giveBack(job.id) }
            } else {
                endOverdue(job, id, session.registration)
            }
        }
        return overdue.count
    }

    /// As with a timeout that the worker reports, but nobody says whether to try again: the job does, or its operation.
    private mutating func endOverdue(_ job: Job, _ session: SessionID, _ registration: Registration) {
        let attempt = job.failures + 1
        let run = Run(attempt: attempt, worker: session, reason: .stuck)
        let event = publish(.timedOut, job.pushed, run)
        count(.timedOut)
        if job.stop == .cancel, job.successor == nil { return end(job.id, as: .cancelled, record: event) }
        if giveWayToSuccessor(job, run, record: event) { return }
        jobs[job.id]?.failures = attempt
        let retries = job.pushed.retries ?? registration.operations[job.pushed.operation]?.retries ?? 0
        guard attempt <= retries else { return die(job.id, run) }
        jobs[job.id]?.keepError(event)
        count(.retried)
        retry(job, run, after: min(15_000 << Time(min(attempt - 1, 8)), 3_600_000))
    }
}

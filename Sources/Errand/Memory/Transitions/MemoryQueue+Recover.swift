/// Recover: recovers the jobs of a dead session, or times out those of live sessions past their hard deadlines.
extension MemoryQueue {
    private static let mostCrashesAlone = 4
    private static let mostRecoveredACall = 400

    /// - Parameter session: The session whose claims are checked for their hard deadlines if no session is dead; all by
    ///   default.
    package mutating func recover(lookingAt session: String? = nil) -> Recovery {
        if let last = pulse.lastBeat, isOutage(since: pulse.outageNoticed ?? last, pulse.longestLease) {
            grantGrace(pulse.longestLease)
            pulse.outageNoticed = now
            return Recovery(recovered: 0, hasMore: false)
        }
        if pulse.outageNoticed != nil { pulse.outageNoticed = now }
        // A grace is never longer than a lease, even after a clock was set back.
        let latest = MemoryRules.later(now, by: pulse.longestLease)
        if pulse.graceEnds > now, pulse.graceEnds <= latest { return Recovery(recovered: 0, hasMore: false) }
        if let dead = longestDeadSession { return recoverClaims(of: dead) }
        return Recovery(recovered: endOverdueClaims(of: session), hasMore: false)
    }

    private var longestDeadSession: MemorySession? {
        sessions.values.filter { $0.leaseEnds <= now }.min { ($0.leaseEnds, $0.id) < ($1.leaseEnds, $1.id) }
    }

    /// Recovers claims from the newest to the oldest, so that the first job is at the head again.
    private mutating func recoverClaims(of session: MemorySession) -> Recovery {
        var (lines, bytes) = ([[UInt8]](), 0)
        let heldOne = session.claims.count == 1 && quarantineOwner == session.id
        let taken = session.claimsInOrder.suffix(Self.mostRecoveredACall).reversed()
        for held in taken {
            guard let job = jobs[held.id] else { continue }
            freeSlots(of: job)
            guard let event = endClaim(job, of: session.id, as: .recovered) else { continue }
            bytes += event.line.count
            if bytes <= Recovery.eventBytes { lines.append(event.line) }
            // The first time the job may have only been waiting there. But a job that kills its worker as soon as it
            // begins must be detected as well.
            let counts = held.claim.token <= session.begun || job.hasComeBack
            jobs[job.id]?.hasComeBack = true
            if counts, crash(job, of: session.id, event, alone: heldOne && job.isQuarantined) { continue }
            requeue(job.id)
        }
        if sessions[session.id]?.claims.isEmpty ?? true { endSession(session.id) }
        return Recovery(recovered: taken.count, hasMore: true, events: lines.compactMap(JobEvent.init(line:)))
    }

    /// Counts a crash.
    ///
    /// - Returns: whether the job is dead because of it.
    private mutating func crash(_ job: MemoryJob, of session: String, _ event: MemoryEvent, alone: Bool) -> Bool {
        let crashes = job.crashes + 1
        let soloCrashes = job.soloCrashes + (alone ? 1 : 0)
        jobs[job.id]?.crashes = crashes
        jobs[job.id]?.errors.keep(event.line)
        jobs[job.id]?.soloCrashes = soloCrashes
        guard alone, soloCrashes >= Self.mostCrashesAlone else { return false }
        let error =
            "its worker died \(crashes) times while running it, \(soloCrashes) of them without another job: look for "
            + "a crash or a lack of memory in its handler"
        die(job.id, MemoryEventDetails(attempt: job.failures + 1, worker: session, error: error))
        return true
    }

    private mutating func endOverdueClaims(of id: String?) -> Int {
        var overdue: [(job: MemoryJob, session: MemorySession)] = []
        for session in sessions.values.sorted(by: { $0.id < $1.id }) where id == nil || session.id == id {
            for held in session.claimsInOrder where deadline(of: held.claim) < now {
                if let job = jobs[held.id] { overdue.append((job, session)) }
            }
        }
        for (job, session) in overdue.prefix(Self.mostRecoveredACall) {
            let isUnreceived = isUnreceived(job, by: session)
            freeSlots(of: job, released: isUnreceived ? session.claims[job.id] : nil)
            if isUnreceived {
                if endClaim(job, of: session.id, as: .released) != nil { requeue(job.id) }
            } else {
                endOverdue(job, of: session)
            }
        }
        return min(overdue.count, Self.mostRecoveredACall)
    }

    /// Returns whether a push has dispatched the job directly and the session's worker has not received it, so it
    /// cannot have begun.
    private func isUnreceived(_ job: MemoryJob, by session: MemorySession) -> Bool {
        guard let token = session.dispatchedToken, session.claims[job.id]?.token == token else { return false }
        return token > session.begun
    }

    /// Returns the deadline of a claim. Claims from before an outage or a change of the clock get their full time
    /// again.
    package func deadline(of claim: MemoryClaim) -> Int64 {
        guard claim.made < pulse.leap else { return claim.hardDeadline }
        let again = MemoryRules.later(pulse.leap, by: MemoryRules.later(claim.hardDeadline, by: -claim.made))
        return max(claim.hardDeadline, again)
    }

    /// Times out a job. The job, or else the session, determines the number of retries.
    private mutating func endOverdue(_ job: MemoryJob, of session: MemorySession) {
        let attempt = job.failures + 1
        let error =
            "the worker has not reported the end of the run long after its timeout: the handler does not return, or the worker is stuck"
        let run = MemoryEventDetails(attempt: attempt, worker: session.id, error: error)
        let event = publish(.timedOut, of: job, run)
        count(.timedOut)
        if job.stop == .cancel, job.successor == nil { return end(job.id, as: .cancelled, event: event) }
        if endReplacedBySuccessor(job, attempt: attempt, worker: session.id, event: event) { return }
        jobs[job.id]?.failures = attempt
        guard attempt <= retries(of: job, of: session) else { return die(job.id, run) }
        jobs[job.id]?.errors.keep(event.line)
        count(.retried)
        // The default delay without jitter, because the header does not have the delays of the job or its worker.
        retry(job, run, after: Int64(RetryDelays().ceiling(ofRetry: attempt)))
    }

    private func retries(of job: MemoryJob, of session: MemorySession) -> Int {
        job.header.retries ?? job.header.operation.flatMap { session.operations[$0]?.retries } ?? 0
    }
}

import Backgroundable
import Logging
import Synchronization

/// Makes runs of claims.
extension QueuePoller {
    private static let takenTogether = 64

    /// A reply whose claims are not runs yet.
    struct Digest {
        let reports: [OutcomeReport]
        let accepted: [Bool]
        let claims: [Claim]
        /// The earliest time at which the jobs can have been claimed.
        let since: ContinuousClock.Instant
    }

    func digest(_ digest: Digest) {
        for (report, counted) in zip(digest.reports, digest.accepted) where !counted {
            workerSession.logger.debug(
                "a late report changed nothing",
                metadata: ["job.id": "\(report.id)", "job.queue": "\(queue)"]
            )
        }
        take(digest.claims, since: digest.since)
    }

    /// Makes runs of claims in portions, so that the first ones do not wait for the last ones.
    private func take(_ claims: [Claim], since: ContinuousClock.Instant) {
        guard !claims.isEmpty else { return }
        if (workerSession.isDraining && !workerSession.isLost) || .now > latestBegin(since) {
            for claim in claims { report(OutcomeReport(claim, .released), ofUnread: 1) }
            return
        }
        for start in stride(from: 0, to: claims.count, by: Self.takenTogether) {
            let portion = claims[start..<min(start + Self.takenTogether, claims.count)]
            let operations = portion.compactMap { accept($0, since)?.makeOperation() }
            workerSession.background.addOperations(operations, waitUntilFinished: false)
        }
        if workerSession.isDraining || workerSession.isLost {
            stopAll(
                workerSession.isLost ? .lost : .released,
                onlyWaiting: !workerSession.isLost && !workerSession.isUrgent
            )
        }
    }

    /// Makes a run of a claim, or reports why the job cannot be run here.
    private func accept(_ claim: Claim, _ since: ContinuousClock.Instant) -> JobRun? {
        let job: StoredJob
        do throws(EnvelopeError) { job = try JobEnvelope.read(stored: claim.body) } catch {
            report(OutcomeReport(claim, .unreadable, error: "unreadable: \(error)"), ofUnread: 1)
            noteDiscarded(claim.id)
            return nil
        }
        guard let operation = workerSession.operations[job.description.operation] else {
            report(OutcomeReport(claim, .parked, fragment: job.fragment), ofUnread: 1)
            noteDiscarded(claim.id, job.description.operation, .unknownOperation)
            return nil
        }
        let run = JobRun(
            claim,
            job,
            operation,
            poller: self,
            claimedAt: since,
            stopGrace: workerSession.configuration.stopGrace,
            middleware: workerSession.middleware,
            logger: workerSession.logger
        )
        held.withLock { held in
            held.runs[claim.id] = run
            held.unread -= 1
            held.account.note(known: held.known)
        }
        workerSession.middleware.claimed(run.context)
        return run
    }

    func noteDiscarded(
        _ id: String,
        _ operation: String? = nil,
        _ reason: DiscardedJob.Reason = .unreadable
    ) {
        workerSession.middleware.discarded(DiscardedJob(id: id, queue: queue, operation: operation, reason: reason))
    }
}

extension OutcomeReport {
    init(_ claim: Claim, _ verb: Verb, fragment: [UInt8] = [], error: String? = nil) {
        self.init(
            id: claim.id,
            token: claim.token,
            verb: verb,
            attempt: claim.attempt,
            fragment: fragment,
            error: error
        )
    }
}

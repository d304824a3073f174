import Backgroundable
import Logging
import Synchronization

/// Makes runs of claims.
extension QueuePoller {
    private static let takenTogether = 64

    /// Makes runs of a reply's claims, in portions, so that the first ones do not wait for the last ones.
    func run(_ reply: UnreadReply) {
        if let token = reply.begun { noteBegun(token) }
        for report in reply.lateReports {
            context.logger.debug(
                "a late report changed nothing",
                metadata: ["job.id": "\(report.id)", "job.queue": "\(queue)"]
            )
        }
        let claims = decide { $0.admitClaims(of: reply, at: .now) }
        for start in stride(from: 0, to: claims.count, by: Self.takenTogether) {
            let portion = claims[start..<min(start + Self.takenTogether, claims.count)]
            let operations = portion.compactMap { accept($0, reply.since)?.makeOperation() }
            stopIfLate()
            context.localQueue.add(operations)
        }
    }

    /// Stops new runs before they begin if the worker has begun to drain, or has lost its session, while they were made.
    private func stopIfLate() {
        let phase = context.phase
        guard phase.isDraining || phase.isLost else { return }
        stopAll(phase.isLost ? .lost : .released, onlyWaiting: !phase.isLost && !phase.isUrgent)
    }

    /// Makes a run of a claim, or reports why the job cannot be run here.
    private func accept(_ claim: Claim, _ since: ContinuousClock.Instant) -> JobRun? {
        let job: StoredJob
        do throws(EnvelopeError) { job = try JobEnvelope.read(stored: claim.body) } catch {
            context.jobLog.unreadable(claim.id, in: queue, because: "\(error)")
            discard(OutcomeReport(claim, .unreadable, error: "\(error)"))
            return nil
        }
        guard let operation = context.operations[job.description.operation] else {
            let report = OutcomeReport(claim, .unroutable, fragment: job.fragment)
            discard(report, job.description.operation, .unknownOperation)
            return nil
        }
        let run = JobRun(claim, job, operation, of: self, in: context, claimedAt: since)
        state.withLock { $0.began(run) }
        context.middleware.claimed(run.context)
        return run
    }

    private func discard(
        _ report: OutcomeReport,
        _ operation: String? = nil,
        _ reason: DiscardedJob.Reason = .unreadable
    ) {
        wake(state.withLock { $0.discarded(report) })
        noteDiscarded(report.id, operation, reason)
    }

    /// Tells the middleware that a claimed job does not run here.
    func noteDiscarded(
        _ id: String,
        _ operation: String? = nil,
        _ reason: DiscardedJob.Reason = .unreadable
    ) {
        context.middleware.discarded(DiscardedJob(id: id, queue: queue, operation: operation, reason: reason))
    }
}

extension JobRun: ClaimedRun {}

extension QueuePoller: JobRunDelegate {
    func noteBegun(_ token: Token) { begun.max(token, ordering: .relaxed) }

    func count(_ ending: RunEnding, of operation: String, waited: Int, ran: Int) {
        runs.count(ending, of: operation, waited: waited, ran: ran)
    }

    func ended(_ run: JobRun, _ report: OutcomeReport?) {
        wake(decide { $0.ended(run, report) })
    }
}

import Synchronization

/// Collects the reports of runs and sends them in portions.
extension QueuePoller {
    /// The number of reports that is worth a call even while there is other work to do.
    private static let worthACall = 128

    /// Notes that the run with this token has begun.
    func noteBegun(_ token: Token) { begun.max(token, ordering: .relaxed) }

    /// Sends an update of a running job. Returns whether the session still has the claim.
    func update(_ update: JobUpdate) async throws(BrokerError) -> Bool {
        try await workerSession.broker.update(update, of: workerSession.session, on: queue)
    }

    /// Returns the checkpoint of an earlier attempt of a job.
    func checkpoint(of id: String) async throws(BrokerError) -> [UInt8]? {
        try await workerSession.broker.checkpoint(of: id, on: queue)
    }

    /// Notes the duration of a run.
    func noteDuration(_ elapsed: Duration) { workerSession.budget.note(elapsed) }

    /// Notes that a handler did not stop when it was asked to.
    func noteOverrun() { workerSession.noteOverrun(in: queue) }

    /// Notes that a handler that did not stop in time has returned.
    func noteReturn() { workerSession.overruns.end() }

    /// Notes that a run has ended. Without a report nothing is sent to the broker.
    func report(_ report: OutcomeReport?, of run: JobRun) {
        // Run and report change in one step: a reconciliation in between would release a claim that is neither.
        let count = held.withLock { held in
            if held.runs[run.id] === run { held.runs[run.id] = nil }
            if let report { held.reports.append(report) }
            held.account.note(known: held.known)
            return held.reports.count
        }
        if report != nil { noteReports(count) } else { workerSession.raise(workerSession.budget.open(1, by: index)) }
        if workerSession.isLost { wake() }
    }

    func report(_ report: OutcomeReport, ofUnread unread: Int = 0) {
        let count = held.withLock { held in
            held.unread -= unread
            held.reports.append(report)
            return held.reports.count
        }
        noteReports(count)
    }

    private func noteReports(_ count: Int) {
        if count == 1 { hurry() }
        if count == Self.worthACall { enough.raise() }
    }

    /// Returns the reports to send, after a moment for further ones if there is other work to do.
    func takeReports(gathering: Bool) async -> [OutcomeReport] {
        let count = held.withLock(\.reports.count)
        if gathering, count > 0, count < Self.worthACall, workerSession.budget.hasWaitingJobs, !workerSession.isDraining
        {
            await enough.wait(for: .milliseconds(1))
        }
        let reports = held.withLock { held in
            let taken = Array(held.reports.prefix(SlotBudget.claimsAtMost))
            held.reports.removeFirst(taken.count)
            return taken
        }
        if !reports.isEmpty {
            workerSession.raise(workerSession.budget.open(reports.count, by: index))
        }
        return reports
    }
}

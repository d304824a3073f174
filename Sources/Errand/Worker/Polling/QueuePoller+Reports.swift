import Synchronization

/// What runs tell their poller, and what it reports of them.
extension QueuePoller {
    /// Reports that are worth a call even while there is other work to do.
    private static let worthACall = 128

    /// A run of this token has begun.
    func noteBegun(_ token: Token) { begun.max(token, ordering: .relaxed) }

    /// A running job tells something of itself. Answers whether it still is this session's.
    func update(_ update: JobUpdate) async throws(BrokerError) -> Bool {
        try await workerSession.broker.update(update, of: workerSession.session, on: queue)
    }

    /// What an earlier attempt of a job has left.
    func checkpoint(of id: String) async throws(BrokerError) -> [UInt8]? {
        try await workerSession.broker.checkpoint(of: id, on: queue)
    }

    /// A run took this long.
    func noteDuration(_ elapsed: Duration) { workerSession.budget.note(elapsed) }

    /// A handler did not stop when it was told to.
    func noteOverrun() { workerSession.noteOverrun(in: queue) }

    /// A handler that did not stop in time has returned after all.
    func noteReturn() { workerSession.overruns.end() }

    /// A run has ended. Without a report the broker is not told.
    func report(_ report: OutcomeReport?, of run: JobRun) {
        // In one step: a claim that is neither run nor reported would be given back by who reconciles just then.
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

    /// The reports to send, after a moment in which more may come while there is other work to do.
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

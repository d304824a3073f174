import Synchronization

/// Jobs that a push has claimed for this poller, in answer to a call that it had not made yet, and others that come few.
extension QueuePoller {
    /// So few and small claims are made runs of in less time than a call takes.
    private static let fewClaims = 16
    private static let fewBytes = 64 * 1024
    /// How long the first of a few jobs may run before the line is looked at again: if it ends sooner, both is one call.
    private static let fewJobsTime = Duration.milliseconds(1)

    /// A job that a push has claimed, as a hint tells it.
    struct DirectDispatch {
        let call: Int
        let claim: Claim
        /// When the hint came.
        let since: ContinuousClock.Instant
    }

    /// A push has answered a call before it was made. The hint may come at any time, or never: then the call gets the same answer.
    func take(_ claim: Claim, answering call: Int) {
        let handed = DirectDispatch(call: call, claim: claim, since: .now)
        held.withLock { $0.handed = handed }
        hurry()
    }

    /// The answer to a call that is about to be made, if a push has given it. An answer to an earlier one is known already.
    func takeHanded(answering call: Int) -> DirectDispatch? {
        held.withLock { held in
            guard let handed = held.handed.take(), handed.call == call else { return nil }
            held.unread += 1
            held.account.note(known: held.known)
            return handed
        }
    }

    /// Makes a run of a job that was handed over.
    func begin(_ handed: DirectDispatch) async {
        workerSession.raise(workerSession.budget.settle(index, wanted: 0, got: 1, looked: true))
        // For the next beat: until then nobody could know whether it has been heard of.
        if .now <= latestBegin(handed.since) { noteBegun(handed.claim.token) }
        await digestFew(Digest(reports: [], accepted: [], claims: [handed.claim], since: handed.since))
    }

    /// For how long a claim may wait for its run to begin. The hard deadline leaves room for that, for the round trips themselves, and for
    /// a process that came to nothing for a lease.
    var patience: Duration { workerSession.configuration.longestWait + .seconds(3) + workerSession.configuration.lease }

    /// What has not begun by then goes back: it would be taken for a run that hangs before its own time is over.
    func latestBegin(_ claimedAt: ContinuousClock.Instant) -> ContinuousClock.Instant { claimedAt + patience }

    /// Whether an answer's jobs are less than was asked for, and soon digested.
    static func areFew(_ claims: [Claim], of wanted: Int) -> Bool {
        !claims.isEmpty && claims.count < min(wanted, fewClaims) && claims.reduce(0) { $0 + $1.body.count } <= fewBytes
    }

    /// Makes runs of a few jobs and waits a moment for the first of them to end, so that the next look can tell of it.
    func digestFew(_ few: Digest) async {
        digest(few)
        await signal.wait(for: Self.fewJobsTime)
        // The next call looks in any case.
        hasNews.store(false, ordering: .relaxed)
    }

    /// Reports that were not taken go with the next call.
    func putBack(_ reports: [OutcomeReport]) {
        guard !reports.isEmpty else { return }
        workerSession.budget.close(reports.count)
        held.withLock { held in
            held.reports.insert(contentsOf: reports, at: 0)
            held.account.note(known: held.known)
        }
    }
}

import Synchronization

/// Handles jobs that a push has claimed for this poller, and other replies with few jobs.
extension QueuePoller {
    /// Up to this limit, making runs of claims takes less time than a call.
    private static let fewClaims = 16
    private static let fewBytes = 64 * 1024
    /// How long the first of a few jobs may run before the next call: if it ends sooner, one call both reports it and
    /// claims.
    private static let fewJobsTime = Duration.milliseconds(1)

    /// A job that a push has claimed for this session, as a wake-up delivers it.
    struct DirectDispatch {
        let call: Int
        let claim: Claim
        /// When the wake-up arrived.
        let since: ContinuousClock.Instant
    }

    /// Keeps a claim with which a push has pre-answered a call. If this wake-up is lost, the call returns the same
    /// claim.
    func take(_ claim: Claim, answering call: Int) {
        let handed = DirectDispatch(call: call, claim: claim, since: .now)
        held.withLock { $0.handed = handed }
        hurry()
    }

    /// Returns the pre-answered reply to the next call, if there is one. A reply to an earlier call is discarded,
    /// because that call has returned it already.
    func takeHanded(answering call: Int) -> DirectDispatch? {
        held.withLock { held in
            guard let handed = held.handed.take(), handed.call == call else { return nil }
            held.unread += 1
            held.account.note(known: held.known)
            return handed
        }
    }

    /// Makes a run of a directly dispatched job.
    func begin(_ handed: DirectDispatch) async {
        workerSession.raise(workerSession.budget.settle(index, wanted: 0, got: 1, looked: true))
        // For the next beat, which otherwise would not show that this worker has the job.
        if .now <= latestBegin(handed.since) { noteBegun(handed.claim.token) }
        await digestFew(Digest(reports: [], accepted: [], claims: [handed.claim], since: handed.since))
    }

    /// How long a claim may wait for its run to begin. The hard deadline includes this time, the round trips, and a
    /// suspension of the process for a lease.
    var patience: Duration { workerSession.configuration.longestWait + .seconds(3) + workerSession.configuration.lease }

    /// The latest time for a run to begin. A job that has not begun by then is released, because the broker would later
    /// time it out although its own time is not over.
    func latestBegin(_ claimedAt: ContinuousClock.Instant) -> ContinuousClock.Instant { claimedAt + patience }

    /// Returns whether a reply has fewer jobs than the call asked for, and is quickly made into runs.
    static func areFew(_ claims: [Claim], of wanted: Int) -> Bool {
        !claims.isEmpty && claims.count < min(wanted, fewClaims) && claims.reduce(0) { $0 + $1.body.count } <= fewBytes
    }

    /// Makes runs of a few jobs and waits a moment for the first of them to end, so that the next call can report it.
    func digestFew(_ few: Digest) async {
        digest(few)
        await signal.wait(for: Self.fewJobsTime)
        // The next call asks for jobs in any case.
        hasNews.store(false, ordering: .relaxed)
    }

    /// Keeps reports that were not accepted for the next call.
    func putBack(_ reports: [OutcomeReport]) {
        guard !reports.isEmpty else { return }
        workerSession.budget.close(reports.count)
        held.withLock { held in
            held.reports.insert(contentsOf: reports, at: 0)
            held.account.note(known: held.known)
        }
    }
}

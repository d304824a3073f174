/// What a poller does next. ``PollerState`` decides, the poller executes.
package enum PollerStep: Sendable {
    /// Make runs of a reply's claims. If `thenWaits`, wait a moment for the first of them to end, so that the next call
    /// can report it.
    case run(UnreadReply, thenWaits: Bool)
    /// Send a call until it is answered, and make runs of the previous reply meanwhile.
    case send(Exchange, running: UnreadReply?)
    /// Wait for further reports, at most this long.
    case gather(Duration)
    /// Compare the claims one by one with those that the broker has after this call.
    case reconcile(call: Int)
    /// Promote due jobs.
    case promote
    /// Wait for a signal, at most this long.
    case wait(Duration)
    /// Leave: the session is lost, or the worker drains and has no jobs left.
    case finish
}

/// A reply whose claims are not runs yet.
package struct UnreadReply: Sendable {
    /// The reports of the call.
    package var reports: [OutcomeReport] = []
    /// Whether the broker accepted each report.
    package var accepted: [Bool] = []
    /// The claims.
    package var claims: [Claim]
    /// The newest token that the broker counts as begun, because a free slot waits for its job.
    package var begun: Token?
    /// The earliest time at which the jobs can have been claimed.
    package var since: ContinuousClock.Instant
    /// Whether there are so few jobs that they come before the next call.
    var areFew = false

    /// Whether it has so many jobs, or such large ones, that a call should be in progress while they are made into runs.
    var isWorthACall: Bool {
        claims.count >= PollerLimits.worthACall || claims.reduce(0) { $0 + $1.body.count } > PollerLimits.fewBytes
    }

    /// The reports that were not accepted, because the session no longer had the claims.
    package var lateReports: [OutcomeReport] { zip(reports, accepted).filter { !$1 }.map(\.0) }
}

/// A job that a push has claimed for a session, as a wake-up delivers it: the reply to the session's next call.
package struct DirectDispatch: Sendable {
    let call: Int
    let claim: Claim
    /// When the wake-up arrived.
    let since: ContinuousClock.Instant

    /// Makes a dispatch that answers the call with this number.
    package init(call: Int, claim: Claim, since: ContinuousClock.Instant) {
        (self.call, self.claim, self.since) = (call, claim, since)
    }
}

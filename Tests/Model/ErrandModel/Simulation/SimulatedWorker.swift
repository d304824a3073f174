import Errand

/// A worker's process in virtual time: the worker's own protocol (`PollerState`), with slots, a lease and a life that end
/// when the simulation says so.
struct SimulatedWorker {
    static let slots = 2
    static let longestWait: Time = 200

    /// A job that waits for a slot or has one.
    struct Held: ClaimedRun {
        var claim: Claim
        var since: ContinuousClock.Instant
        var begunAt: Time?
        var endsAt: Time = 0
        var verb = OutcomeReport.Verb.finished

        var id: String { claim.id }
        var token: Token { claim.token }
    }

    let index: Int
    /// Grows with every process, so that what was meant for an earlier one is not taken.
    var life = 0
    var isUp = true
    var pausedUntil: Time = 0
    var session: Session?
    /// The protocol; `nil` before the registration is answered.
    var poller: PollerState<Held>?
    var held: [Held] = []
    /// The newest token for which a job has begun.
    var begun: Token = 0
    var sentAt: Time = 0
    /// Until when the poller waits for the reply to a comparison of claims.
    var reconcilesUntil: Time = 0
    var lastBeatSent: Time = 0
    var lastBeatAnswered: Time = 0
    var lastUpkeep: Time = 0
    var drainsSince: Time?

    init(index: Int) { self.index = index }

    var running: Int { held.count { $0.begunAt != nil } }

    /// Makes the protocol of a registered session. Two jobs are claimed ahead.
    static func makePoller(of session: Session, at now: ContinuousClock.Instant) -> PollerState<Held> {
        let budget = SlotBudget(concurrency: slots, weights: [1])
        budget.note(.milliseconds(20))
        return PollerState(
            session: session,
            limits: PollerLimits(
                longestPoll: .milliseconds(100),
                longestClaimWait: .milliseconds(longestWait + 100),
                stopGrace: .milliseconds(300)
            ),
            slots: SlotShare(of: budget, at: 0) { _ in },
            looksAt: WakeUpTimes(since: now),
            at: now
        )
    }
}

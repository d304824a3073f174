import Errand

/// A worker as a state machine: the protocol of the real one, without its threads.
struct SimulatedWorker {
    static let slots = 2
    static let claimedAhead = 2
    static let longestWait: Time = 300

    struct Held {
        var claim: Claim
        var since: Time
        var begunAt: Time?
        var endsAt: Time = 0
        var verb = OutcomeReport.Verb.finished
        var isWedged = false
    }

    let index: Int
    /// Grows with every process, so that what was meant for an earlier one is not taken.
    var life = 0
    var isUp = true
    var pausedUntil: Time = 0
    var session: Session?
    var isRegistered = false
    var number = 0
    var awaited: Exchange?
    var sentAt: Time = 0
    var held: [Held] = []
    var reports: [OutcomeReport] = []
    var lastBeatSent: Time = 0
    var lastBeatAnswered: Time = 0
    var lastUpkeep: Time = 0
    var drainsSince: Time?

    init(index: Int) { self.index = index }

    var begun: Token { held.filter { $0.begunAt != nil }.map(\.claim.token).max() ?? 0 }
    var running: Int { held.count { $0.begunAt != nil } }
}

import Errand

/// What is known outside the broker of when it could not be reached, to judge its grace by: after a time without beats,
/// the sessions have a lease's time to come back, counted from the first beat, registration, claim or recovery that came
/// through; and once more if none comes through after that, either.
struct Outage: Sendable {
    /// The lease of every session.
    let lease: Time
    /// The last beat or registration, or the last claim that showed that an outage is over.
    private var lastBeat: Time?
    /// The last call that came through since a gap was noticed and before anybody has beaten.
    private var lastLook: Time?
    /// Until then, nobody may be robbed.
    private var graceEnds: Time = 0

    mutating func note(_ command: Command, _ answer: Answer, at now: Time) {
        var isBeat = false
        var endsGap = false
        switch (command, answer) {
        case (.beat, .beaten), (.register, .done): isBeat = true
        case (.exchange, .exchanged(let reply)) where !reply.claims.isEmpty: endsGap = true
        case (.recover, _): break
        default: return
        }
        if let heard = lastLook ?? lastBeat, abs(now - heard) > lease / 2 {
            lastLook = now
            graceEnds = now + lease
        }
        if lastLook != nil { lastLook = now }
        guard isBeat || (endsGap && lastLook != nil) else { return }
        lastBeat = now
        lastLook = nil
    }

    /// A time of the old clock means nothing any more.
    mutating func clockLeapt() { graceEnds = 0 }

    init(lease: Time) { self.lease = lease }

    /// Whether nobody may be robbed at this time.
    func isGrace(at now: Time) -> Bool { graceEnds > now }

    /// What of it matters at a time: how long nobody was heard (up to `reach`), whether a gap is noticed, what is left of a grace.
    func outlook(at now: Time, reach: Time) -> (silence: Time, isNoticed: Bool, grace: Time) {
        (min(now - (lastLook ?? lastBeat ?? now), reach), lastLook != nil, max(graceEnds - now, 0))
    }
}

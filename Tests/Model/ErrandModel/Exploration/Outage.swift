/// What is known outside the broker of when it could not be reached, to judge its grace by: after a time without beats,
/// the sessions have a lease's time to come back, counted from the first call that came through.
struct Outage: Hashable, Sendable {
    /// The last beat or registration.
    private(set) var lastBeat: Time?
    /// The last beat whose gap has been noticed.
    private(set) var noticed: Time?
    /// Until then, nobody may be robbed.
    private(set) var graceEnds: Time = 0

    mutating func note(_ command: Command, _ answer: Answer, at now: Time) {
        var isBeat = false
        switch (command, answer) {
        case (.beat, .beaten), (.register, .done): isBeat = true
        case (.exchange, .exchanged), (.exchange, .no(.refused)), (.recover, _): break
        default: return
        }
        if let lastBeat, abs(now - lastBeat) > World.lease / 2, noticed != lastBeat {
            noticed = lastBeat
            graceEnds = now + World.lease
        }
        guard isBeat else { return }
        lastBeat = now
        noticed = nil
    }

    /// A time of the old clock means nothing any more.
    mutating func clockLeapt() { graceEnds = 0 }

    /// What of it matters at a time: ticks since the last beat, whether their gap was noticed, ticks of grace.
    func outlook(at now: Time, reach: Time = 2) -> (silence: Time, isNoticed: Bool, grace: Time) {
        (min(now - (lastBeat ?? now), reach * World.tick), noticed == lastBeat, max(graceEnds - now, 0))
    }
}

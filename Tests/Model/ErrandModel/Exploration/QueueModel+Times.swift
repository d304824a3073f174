/// What the queue's times come to.
extension QueueModel {
    /// Whether the next beat, or look after the queue, will find that the broker had been away.
    func hasUnnoticedGap(at now: Time) -> Bool {
        guard let lastBeat else { return false }
        return abs(now - (gapNoticed ?? lastBeat)) > longestLease / 2
    }

    /// Claims from before an outage have their time anew.
    func effectiveDeadline(of claim: SessionState.HeldClaim) -> Time {
        claim.made < leap ? leap + claim.deadline - claim.made : claim.deadline
    }
}

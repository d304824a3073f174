/// The number of jobs that a poller asks for at once. It is reduced if replies are lost that may be too large for the
/// broker or the network.
struct ClaimLimit {
    /// Returns whether so many lost replies in a row to one call, while the broker is reachable, suggest that the reply
    /// is too large. For a single job it takes more losses, over some seconds, because that job then becomes dead.
    static func tells(losses: Int, wanted: Int) -> Bool {
        switch wanted {
        case ...0: false
        case 1: losses >= 8
        default: losses >= 3
        }
    }

    /// How long a limit lasts before it is doubled.
    private static let rest = Duration.seconds(60)

    private var most = SlotBudget.claimsAtMost
    private var fewest = SlotBudget.claimsAtMost
    private var raisesAt = ContinuousClock.now

    /// Halves the limit after the reply to a call for `wanted` jobs could not be received.
    ///
    /// - Returns: the new limit, and whether it is lower than any before.
    mutating func lower(
        after wanted: Int,
        at now: ContinuousClock.Instant = .now
    ) -> (most: Int, isLowest: Bool) {
        most = max(1, wanted / 2)
        raisesAt = now + Self.rest
        defer { fewest = min(fewest, most) }
        return (most, most < fewest)
    }

    /// Returns the number of jobs that the poller may ask for now.
    mutating func current(at now: ContinuousClock.Instant = .now) -> Int {
        guard most < SlotBudget.claimsAtMost, now >= raisesAt else { return most }
        most = min(most * 2, SlotBudget.claimsAtMost)
        raisesAt = now + Self.rest
        return most
    }
}

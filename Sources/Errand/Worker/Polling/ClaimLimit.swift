/// How many jobs a poller asks for at once: fewer where answers are lost that may be too large for the broker or the network.
struct ClaimLimit {
    /// So many lost answers in a row to one call, while the broker can be reached, are no accident. Of a single job more are
    /// awaited, some seconds long, for it is set aside after them.
    static func tells(losses: Int, wanted: Int) -> Bool {
        switch wanted {
        case ...0: false
        case 1: losses >= 8
        default: losses >= 3
        }
    }

    /// How long a limit holds before twice as many are tried.
    private static let rest = Duration.seconds(60)

    private var most = SlotBudget.claimsAtMost
    private var fewest = SlotBudget.claimsAtMost
    private var raisesAt = ContinuousClock.now

    /// The answer to a call for `wanted` jobs could not be had.
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

    /// How many may be asked for now.
    mutating func current(at now: ContinuousClock.Instant = .now) -> Int {
        guard most < SlotBudget.claimsAtMost, now >= raisesAt else { return most }
        most = min(most * 2, SlotBudget.claimsAtMost)
        raisesAt = now + Self.rest
        return most
    }
}

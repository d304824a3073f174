/// The failures of one call, which is sent again until it is answered.
struct CallFailures {
    private(set) var isRefused = false
    /// The number of lost replies in a row while the broker was reachable.
    private var losses = 0
    private var pause = Duration.milliseconds(20)

    /// Returns whether the call, or its reply, was lost; otherwise the broker has rejected it.
    static func isLoss(_ error: BrokerError) -> Bool { [.notReachable, .outcomeUnknown].contains(error.code) }

    /// Notes a failure. Returns whether it is the first rejection of this call.
    mutating func note(_ error: BrokerError) -> Bool {
        losses = error.code == .outcomeUnknown ? losses + 1 : 0
        defer { isRefused = isRefused || !Self.isLoss(error) }
        return !isRefused && !Self.isLoss(error)
    }

    /// Returns whether so many replies were lost that they may be too large. The losses are then counted anew.
    mutating func suggestLargeReply(wanted: Int) -> Bool {
        guard ClaimLimit.tells(losses: losses, wanted: wanted) else { return false }
        losses = 0
        return true
    }

    /// Returns the pause before the call is sent again.
    mutating func nextPause() -> Duration {
        defer { pause = min(pause * 2, .seconds(2)) }
        return pause
    }
}

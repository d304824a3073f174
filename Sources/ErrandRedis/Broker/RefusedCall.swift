/// The retries of a call that a server refuses temporarily or redirects: their pauses and their deadline.
struct RefusedCall {
    /// After more redirections than this in a row, the servers probably disagree on which of them has the slot.
    private static let mostRedirections = 4
    /// A longer wait is reported.
    private static let worthTelling = Duration.seconds(1)

    private let began = ContinuousClock.now
    private let deadline: ContinuousClock.Instant
    /// How long the call may wait for a connection.
    let connectionDeadline: ContinuousClock.Instant
    private var backoff = Backoff()
    private var redirections = 0
    private var isTold = false

    init(patience: Duration, connecting: Duration) {
        deadline = began + patience
        connectionDeadline = began + connecting
    }

    /// How long to wait for a connection to one server. If any server will do, another one is tried soon.
    func connectionDeadline(for place: CommandPlace) -> ContinuousClock.Instant {
        if case .anywhere = place { min(connectionDeadline, .now + .seconds(1)) } else { connectionDeadline }
    }

    /// The remaining time for retries.
    var left: Duration { max(.zero, deadline - .now) }

    /// Returns the pause before the next try, the last of which is at the deadline; `nil` if the deadline has passed.
    mutating func pause() -> Duration? {
        let rest = left
        return rest > .zero ? min(.seconds(backoff.next()), rest) : nil
    }

    /// Returns whether the call may follow another redirection without a pause.
    mutating func mayFollowRedirection() -> Bool {
        redirections += 1
        return redirections % (Self.mostRedirections + 1) != 0
    }

    /// Returns whether the wait, with this pause, is long enough to be reported; `true` only once.
    mutating func isWorthTelling(after pause: Duration) -> Bool {
        guard !isTold, ContinuousClock.now + pause >= began + Self.worthTelling else { return false }
        isTold = true
        return true
    }
}

/// The retries of a call that the server refuses temporarily: their pauses and their deadline.
struct RefusedCall {
    /// A longer wait is reported.
    private static let worthTelling = Duration.seconds(1)

    private let began = ContinuousClock.now
    private let deadline: ContinuousClock.Instant
    private var backoff = Backoff()
    private var isTold = false

    init(patience: Duration) { deadline = began + patience }

    /// The remaining time for retries.
    var left: Duration { max(.zero, deadline - .now) }

    /// Returns the pause before the next try, the last of which is at the deadline; `nil` if the deadline has passed.
    mutating func pause() -> Duration? {
        let rest = left
        return rest > .zero ? min(.seconds(backoff.next()), rest) : nil
    }

    /// Returns whether the wait, with this pause, is long enough to be reported; `true` only once.
    mutating func isWorthTelling(after pause: Duration) -> Bool {
        guard !isTold, ContinuousClock.now + pause >= began + Self.worthTelling else { return false }
        isTold = true
        return true
    }
}

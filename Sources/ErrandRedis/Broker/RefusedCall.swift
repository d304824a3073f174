/// A call that the server refuses for the moment: when it is tried again, and until when.
struct RefusedCall {
    /// A wait that is longer than this is told.
    private static let worthTelling = Duration.seconds(1)

    private let began = ContinuousClock.now
    private let deadline: ContinuousClock.Instant
    private var backoff = Backoff()
    private var isTold = false

    init(patience: Duration) { deadline = began + patience }

    /// For how long it is still tried again.
    var left: Duration { max(.zero, deadline - .now) }

    /// The pause before the next try, the last of which is at the deadline; `nil` when that has passed.
    mutating func pause() -> Duration? {
        let rest = left
        return rest > .zero ? min(.seconds(backoff.next()), rest) : nil
    }

    /// Whether the wait, this pause included, has become so long that it is to be told; true once.
    mutating func isWorthTelling(after pause: Duration) -> Bool {
        guard !isTold, ContinuousClock.now + pause >= began + Self.worthTelling else { return false }
        isTold = true
        return true
    }
}

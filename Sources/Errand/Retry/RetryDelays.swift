/// How long to wait before a failed job is tried again: exponential backoff with full jitter.
///
/// The wait before retry *n* is drawn evenly from zero to `base` · 2ⁿ⁻¹, at most `cap`, so that jobs which failed
/// together do not come back together.
public struct RetryDelays: Sendable, Equatable {
    /// The longest wait before the first retry.
    public var base: Duration
    /// The longest wait before any retry.
    public var cap: Duration

    /// Makes delays. One second and five minutes unless said.
    public init(base: Duration = .seconds(1), cap: Duration = .seconds(300)) {
        self.base = base
        self.cap = cap
    }

    /// The longest wait before retry `number` (from 1), in milliseconds.
    public func ceiling(ofRetry number: Int) -> Int {
        let doublings = min(max(number - 1, 0), 40)
        let ceiling = Double(base.wholeMilliseconds) * Double(1 << doublings)
        return Int(min(ceiling, Double(cap.wholeMilliseconds)))
    }

    /// A wait before retry `number` (from 1), in milliseconds.
    public func delay(ofRetry number: Int) -> Int {
        Int.random(in: 0...max(0, ceiling(ofRetry: number)))
    }
}

extension Duration {
    /// Whole milliseconds, cut off and clamped to a century, so that sums of them cannot overflow.
    package var wholeMilliseconds: Int {
        let century: Int64 = 100 * 366 * 86400
        let (seconds, attoseconds) = components
        let clamped = min(max(seconds, -century), century)
        return Int(clamped) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}

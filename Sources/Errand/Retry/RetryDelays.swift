/// The delays before a failed job is retried: exponential backoff with jitter.
///
/// The delay before retry *n* is `base` · 2ⁿ⁻¹, at most ``longest``, shortened by a random part of up to ``jitter``.
/// With the defaults (15 s, one hour, 0.2) the delays before the first three retries are 12 to 15 s, 24 to 30 s and
/// 48 to 60 s, so the third retry starts 84 s after the first failure at the earliest.
///
/// In a description, a catalogue or a type's defaults they are the `backoff`:
///
/// ```swift
/// let backoff = RetryDelays(base: .seconds(5), longest: .seconds(3600), jitter: 0.2)
/// let job = try OperationDescription("mail", retries: 5, backoff: backoff)
/// ```
public struct RetryDelays: Sendable, Equatable {
    /// The longest delay before the first retry.
    public var base: Duration
    /// The longest delay before any retry.
    public var longest: Duration
    /// The largest part by which a delay is shortened at random, 0 to 1, so that jobs that failed together are not
    /// retried together: 0 for none, 1 for delays anywhere between zero and the longest.
    public var jitter: Double

    /// Makes delays.
    ///
    /// - Parameters:
    ///   - base: the longest delay before the first retry; by default 15 s, or `longest` if that is shorter.
    ///   - longest: the longest delay before any retry; by default one hour, or `base` if that is longer.
    ///   - jitter: the largest part by which a delay is shortened, 0 to 1.
    public init(base: Duration? = nil, longest: Duration? = nil, jitter: Double = 0.2) {
        self.base = base ?? min(.seconds(15), longest ?? .seconds(15))
        self.longest = longest ?? max(.seconds(3600), self.base)
        self.jitter = jitter
    }

    /// Returns the longest delay before retry `number` (from 1), in milliseconds.
    public func ceiling(ofRetry number: Int) -> Int {
        let doublings = min(max(number, 1) - 1, 40)
        let doubled = Double(max(0, base.wholeMilliseconds)) * Double(1 << doublings)
        return Int(min(doubled, Double(max(0, longest.wholeMilliseconds))))
    }

    /// Returns a random delay before retry `number` (from 1), in milliseconds.
    public func delay(ofRetry number: Int) -> Int {
        let most = ceiling(ofRetry: number)
        let part = jitter.isFinite ? min(max(jitter, 0), 1) : 0
        let least = Int((Double(most) * (1 - part)).rounded(.up))
        return Int.random(in: min(least, most)...most)
    }
}

extension Duration {
    /// The duration in whole milliseconds, truncated and clamped to a century, so that sums of them cannot overflow.
    package var wholeMilliseconds: Int {
        let century: Int64 = 100 * 366 * 86400
        let (seconds, attoseconds) = components
        let clamped = min(max(seconds, -century), century)
        return Int(clamped) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}

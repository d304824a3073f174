public import Foundation

/// How long to wait before something is tried again.
public struct DelayStrategy: Sendable {
    private let span: @Sendable (Int) -> TimeInterval

    /// Makes a strategy of one's own.
    ///
    /// - Parameter delay: The seconds to wait before retry *n*, counted from 1. Negative and undefined values mean none.
    public init(_ delay: @escaping @Sendable (_ retry: Int) -> TimeInterval) {
        span = delay
    }

    /// The seconds to wait before retry `number`, counted from 1: zero or more, at most a hundred years.
    public func delay(beforeRetry number: Int) -> TimeInterval {
        let seconds = span(number)
        return seconds > 0 ? min(seconds, DelayStrategy.longest) : 0
    }

    private static let longest: TimeInterval = 3_155_000_000

    /// No wait.
    public static let immediate = DelayStrategy { _ in 0 }

    /// Always the same wait, in seconds.
    public static func constant(_ seconds: TimeInterval) -> DelayStrategy {
        DelayStrategy { _ in seconds }
    }

    /// A wait drawn from a range, in seconds.
    public static func random(in range: ClosedRange<TimeInterval>) -> DelayStrategy {
        // Nothing can be drawn evenly from a range without end.
        let finite = range.clamped(to: 0...longest)
        return DelayStrategy { _ in TimeInterval.random(in: finite) }
    }

    /// `initial` seconds, and `step` more each time.
    public static func increasing(
        from initial: TimeInterval,
        by step: TimeInterval,
        upTo maximum: TimeInterval = .infinity
    ) -> DelayStrategy {
        DelayStrategy { min(initial + step * (TimeInterval($0) - 1), maximum) }
    }

    /// `initial` seconds, and twice as many each time, at most `maximum`.
    public static func exponential(
        from initial: TimeInterval = 1,
        upTo maximum: TimeInterval = 300
    ) -> DelayStrategy {
        DelayStrategy { min(initial * pow(2, TimeInterval($0) - 1), maximum) }
    }

    /// The same waits, each drawn evenly from zero to what it would have been, so that what failed together does not come
    /// back together.
    public func jittered() -> DelayStrategy {
        DelayStrategy { TimeInterval.random(in: 0...delay(beforeRetry: $0)) }
    }
}

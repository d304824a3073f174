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

    /// Always the same wait, in seconds or as a `Duration`.
    public static func constant(_ span: some TimeSpan) -> DelayStrategy {
        DelayStrategy { _ in span.timeInterval }
    }

    /// A wait drawn from a range of seconds or of `Duration`s.
    public static func random(in range: ClosedRange<some TimeSpan & Comparable>) -> DelayStrategy {
        // Nothing can be drawn evenly from a range without end.
        let finite = (range.lowerBound.timeInterval...range.upperBound.timeInterval).clamped(to: 0...longest)
        return DelayStrategy { _ in TimeInterval.random(in: finite) }
    }

    /// A wait of `initial`, and of `step` more each time, in seconds or as `Duration`s.
    public static func increasing(
        from initial: some TimeSpan,
        by step: some TimeSpan,
        upTo maximum: some TimeSpan = TimeInterval.infinity
    ) -> DelayStrategy {
        DelayStrategy { retry in
            min(initial.timeInterval + step.timeInterval * (TimeInterval(retry) - 1), maximum.timeInterval)
        }
    }

    /// A wait of `initial`, and twice as long each time, at most `maximum`, in seconds or as `Duration`s.
    public static func exponential(
        from initial: some TimeSpan = 1.0,
        upTo maximum: some TimeSpan = 300.0
    ) -> DelayStrategy {
        DelayStrategy { retry in min(initial.timeInterval * pow(2, TimeInterval(retry) - 1), maximum.timeInterval) }
    }

    /// The same waits, each drawn evenly from zero to what it would have been, so that what failed together does not come
    /// back together.
    public func jittered() -> DelayStrategy {
        DelayStrategy { TimeInterval.random(in: 0...delay(beforeRetry: $0)) }
    }
}

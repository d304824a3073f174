public import Foundation

/// The delays between the attempts of a retried operation.
public struct DelayStrategy: Sendable {
    private let span: @Sendable (Int) -> TimeInterval

    /// Creates a strategy from a closure.
    ///
    /// - Parameter delay: Returns the delay in seconds before retry *n*, counted from 1. Negative and NaN values mean
    ///   no delay.
    public init(_ delay: @escaping @Sendable (_ retry: Int) -> TimeInterval) {
        span = delay
    }

    /// Returns the delay in seconds before retry `number`, counted from 1. It is between zero and a hundred years.
    public func delay(beforeRetry number: Int) -> TimeInterval {
        let seconds = span(number)
        return seconds > 0 ? min(seconds, DelayStrategy.longest) : 0
    }

    private static let longest: TimeInterval = 3_155_000_000

    /// No delay.
    public static let immediate = DelayStrategy { _ in 0 }

    /// The same delay before each retry, in seconds or as a `Duration`.
    public static func constant(_ span: some TimeSpan) -> DelayStrategy {
        DelayStrategy { _ in span.timeInterval }
    }

    /// A random delay from a range of seconds or of `Duration`s.
    public static func random(in range: ClosedRange<some TimeSpan & Comparable>) -> DelayStrategy {
        // A uniform random value needs a finite range.
        let finite = (range.lowerBound.timeInterval...range.upperBound.timeInterval).clamped(to: 0...longest)
        return DelayStrategy { _ in TimeInterval.random(in: finite) }
    }

    /// A delay that starts at `initial` and grows by `step`, up to `maximum`, in seconds or as `Duration`s.
    public static func increasing(
        from initial: some TimeSpan,
        by step: some TimeSpan,
        upTo maximum: some TimeSpan = TimeInterval.infinity
    ) -> DelayStrategy {
        DelayStrategy { retry in
            min(initial.timeInterval + step.timeInterval * (TimeInterval(retry) - 1), maximum.timeInterval)
        }
    }

    /// A delay that starts at `initial` and doubles, up to `maximum`, in seconds or as `Duration`s.
    public static func exponential(
        from initial: some TimeSpan = 1.0,
        upTo maximum: some TimeSpan = 300.0
    ) -> DelayStrategy {
        DelayStrategy { retry in min(initial.timeInterval * pow(2, TimeInterval(retry) - 1), maximum.timeInterval) }
    }

    /// Returns this strategy with jitter: each delay is a random value between zero and the original one, so that
    /// operations that failed together are not retried together.
    public func jittered() -> DelayStrategy {
        DelayStrategy { TimeInterval.random(in: 0...delay(beforeRetry: $0)) }
    }
}

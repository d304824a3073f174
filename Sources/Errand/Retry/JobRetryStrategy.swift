/// Decides whether and when a failed run is retried. The design follows swift-jobs.
///
/// ```swift
/// struct NightlyOnly: JobRetryStrategy {
///     func shouldRetry(attempt: Int, error: any Error) -> Bool { !(error is InvalidAddress) }
///     func calculateBackoff(attempt: Int) -> Duration { .seconds(3600) }
/// }
/// ```
///
/// ``RetryDelays`` is a strategy, as are ``exponentialJitter(maxAttempts:maxBackoff:minJitter:maxJitter:)`` and
/// ``dontRetry``.
public protocol JobRetryStrategy: Sendable {
    /// The number of retries of a job for which neither it nor its type's ``JobDefaults`` set one, 0 to 1,000. 1,000
    /// unless implemented, so that ``shouldRetry(attempt:error:)`` decides.
    var maxRetries: Int { get }

    /// Returns whether to retry after a run that failed or timed out, while retries are left. Always, unless
    /// implemented.
    ///
    /// - Parameters:
    ///   - attempt: the failed attempt, from 1.
    ///   - error: the error that the handler threw, or ``JobTimedOut``.
    func shouldRetry(attempt: Int, error: any Error) -> Bool

    /// Returns how long to wait before the next attempt.
    ///
    /// - Parameter attempt: the failed attempt, from 1.
    func calculateBackoff(attempt: Int) -> Duration
}

extension JobRetryStrategy {
    /// The maximum, so that ``shouldRetry(attempt:error:)`` decides.
    public var maxRetries: Int { Int(DescriptionLimits.retries.upperBound) }

    /// Returns `true`.
    public func shouldRetry(attempt: Int, error: any Error) -> Bool { true }
}

extension RetryDelays: JobRetryStrategy {
    /// Three.
    public var maxRetries: Int { OperationDefaults().retries }

    /// Returns a new random delay for each failure, so that jobs that failed together are not retried together.
    public func calculateBackoff(attempt: Int) -> Duration { .milliseconds(delay(ofRetry: attempt)) }
}

/// Exponential backoff with jitter: 1 s, 2 s, 4 s, … times one plus the jitter.
public struct ExponentialJitter: JobRetryStrategy {
    /// The maximum number of attempts.
    public var maxAttempts: Int
    /// The longest delay, without the jitter.
    public var maxBackoff: Duration
    /// The range of the random part of the delay that is added; a negative part shortens the delay.
    public var jitter: ClosedRange<Double>

    /// One less than the attempts, at most 1,000.
    public var maxRetries: Int { min(max(0, maxAttempts - 1), Int(DescriptionLimits.retries.upperBound)) }

    /// Returns twice the delay of the previous attempt, at most ``maxBackoff``, with the jitter.
    public func calculateBackoff(attempt: Int) -> Duration {
        let ceiling = RetryDelays(base: .seconds(1), longest: maxBackoff).ceiling(ofRetry: attempt)
        return .milliseconds(max(0, Double(ceiling) * (1 + Double.random(in: jitter))))
    }
}

extension JobRetryStrategy where Self == ExponentialJitter {
    /// Exponential backoff with jitter, as in swift-jobs.
    ///
    /// - Parameters:
    ///   - maxAttempts: the maximum number of attempts, including the first one.
    ///   - maxBackoff: the longest delay, without the jitter.
    ///   - minJitter: the smallest part of the delay to add, from -1.
    ///   - maxJitter: the largest part of the delay to add, at most 10.
    public static func exponentialJitter(
        maxAttempts: Int = 4,
        maxBackoff: Duration = .seconds(120),
        minJitter: Double = -0.5,
        maxJitter: Double = 0.5
    ) -> ExponentialJitter {
        let least = minJitter.isFinite ? max(-1, min(minJitter, 10)) : 0
        let most = maxJitter.isFinite ? max(least, min(maxJitter, 10)) : least
        return ExponentialJitter(maxAttempts: maxAttempts, maxBackoff: maxBackoff, jitter: least...most)
    }
}

/// A strategy without retries.
public struct NoRetries: JobRetryStrategy {
    /// None.
    public var maxRetries: Int { 0 }
    /// Returns zero; it is not used.
    public func calculateBackoff(attempt: Int) -> Duration { .zero }
    /// Returns `false`.
    public func shouldRetry(attempt: Int, error: any Error) -> Bool { false }
}

extension JobRetryStrategy where Self == NoRetries {
    /// A strategy without retries: a failed job is dead immediately, even if it sets retries itself.
    public static var dontRetry: NoRetries { NoRetries() }
}

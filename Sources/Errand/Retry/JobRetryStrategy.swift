/// Whether and when a failed run is tried again. The shape is that of swift-jobs.
///
/// ```swift
/// struct NightlyOnly: JobRetryStrategy {
///     func shouldRetry(attempt: Int, error: any Error) -> Bool { !(error is InvalidAddress) }
///     func calculateBackoff(attempt: Int) -> Duration { .seconds(3600) }
/// }
/// ```
///
/// ``RetryDelays`` is one, and so are ``exponentialJitter(maxAttempts:maxBackoff:minJitter:maxJitter:)`` and ``dontRetry``.
public protocol JobRetryStrategy: Sendable {
    /// How often a job is tried again when neither it nor its type's ``JobDefaults`` say it, 0 to 1,000; 1,000 unless you say
    /// it, so that ``shouldRetry(attempt:error:)`` decides.
    var maxRetries: Int { get }

    /// Whether to try again after a run that failed or timed out, while retries last. Always, unless you say it.
    ///
    /// - Parameters:
    ///   - attempt: which attempt has failed, from 1.
    ///   - error: what the handler threw, or ``JobTimedOut``.
    func shouldRetry(attempt: Int, error: any Error) -> Bool

    /// How long to wait before the next attempt.
    ///
    /// - Parameter attempt: which attempt has failed, from 1.
    func calculateBackoff(attempt: Int) -> Duration
}

extension JobRetryStrategy {
    /// As often as ``shouldRetry(attempt:error:)`` says.
    public var maxRetries: Int { Int(DescriptionLimits.retries.upperBound) }

    /// Always.
    public func shouldRetry(attempt: Int, error: any Error) -> Bool { true }
}

extension RetryDelays: JobRetryStrategy {
    /// Three.
    public var maxRetries: Int { OperationDefaults().retries }

    /// Drawn anew for each failure, so that jobs which failed together do not come back together.
    public func calculateBackoff(attempt: Int) -> Duration { .milliseconds(delay(ofRetry: attempt)) }
}

/// Exponential backoff around which the waits are strewn: 1 s, 2 s, 4 s, … times one plus the jitter.
public struct ExponentialJitter: JobRetryStrategy {
    /// How often a job runs at the most.
    public var maxAttempts: Int
    /// The longest wait, before the jitter.
    public var maxBackoff: Duration
    /// Which part of the wait is added, drawn evenly; a negative one shortens it.
    public var jitter: ClosedRange<Double>

    /// One less than the attempts.
    public var maxRetries: Int { min(max(0, maxAttempts - 1), Int(DescriptionLimits.retries.upperBound)) }

    /// Twice the wait of the attempt before, at most ``maxBackoff``, and the jitter.
    public func calculateBackoff(attempt: Int) -> Duration {
        let ceiling = RetryDelays(base: .seconds(1), cap: maxBackoff).ceiling(ofRetry: attempt)
        return .milliseconds(max(0, Double(ceiling) * (1 + Double.random(in: jitter))))
    }
}

extension JobRetryStrategy where Self == ExponentialJitter {
    /// Exponential backoff with jitter, as in swift-jobs.
    ///
    /// - Parameters:
    ///   - maxAttempts: how often a job runs at the most, the first time included.
    ///   - maxBackoff: the longest wait, before the jitter.
    ///   - minJitter: which part of the wait is added at the least, from -1.
    ///   - maxJitter: which part of the wait is added at the most.
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

/// Never tries again.
public struct NoRetries: JobRetryStrategy {
    /// None.
    public var maxRetries: Int { 0 }
    /// Not asked for.
    public func calculateBackoff(attempt: Int) -> Duration { .zero }
    /// Never.
    public func shouldRetry(attempt: Int, error: any Error) -> Bool { false }
}

extension JobRetryStrategy where Self == NoRetries {
    /// A failed job is dead at once, also when it asks for retries itself.
    public static var dontRetry: NoRetries { NoRetries() }
}

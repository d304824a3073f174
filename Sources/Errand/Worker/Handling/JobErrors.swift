import ErrandText

/// What a handler throws to say how its run failed.
///
/// Any other error is a failure too, tried again while retries last.
public struct JobFailure: Error, Sendable, CustomStringConvertible {
    /// Why it failed.
    public let message: String
    /// Whether trying again is of no use.
    public let isFinal: Bool
    /// When to try again, instead of the operation's own delays.
    public let retryAfter: Duration?

    /// Makes a failure.
    public init(_ message: String, isFinal: Bool = false, retryAfter: Duration? = nil) {
        self.message = message
        self.isFinal = isFinal
        self.retryAfter = retryAfter
    }

    /// The message.
    public var description: String { message }
}

/// What a handler throws to end its job for good without calling it a failure: what it was to do is not wanted any more.
///
/// The job ends `cancelled`, whatever retries are left; its name is free.
public struct JobCancellation: Error, Sendable, CustomStringConvertible {
    /// Why.
    public let reason: String

    /// Makes a cancellation.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }
}

/// What a handler throws to be tried again later without spending an attempt.
public struct JobSnooze: Error, Sendable {
    /// How long to wait.
    public let pause: Duration

    /// Makes a snooze.
    public init(for pause: Duration) { self.pause = pause }
}

/// A run took longer than its timeout; what ``JobRetryStrategy/shouldRetry(attempt:error:)`` is told then.
public struct JobTimedOut: Error, Sendable, CustomStringConvertible {
    /// The timeout.
    public let timeout: Duration

    /// Makes an error.
    public init(timeout: Duration) { self.timeout = timeout }

    /// A sentence with the timeout, such as `1 min 30 s`.
    public var description: String { "took longer than its timeout of \(TimeSpanText.exact(timeout))" }
}

/// What a job's context throws when the job is not this worker's any more: it was cut off for longer than its lease, or its
/// hard deadline is over. Somebody else runs the job, so the handler had better stop.
public struct ClaimLost: Error, Sendable, CustomStringConvertible {
    /// The job's id.
    public let id: String

    /// Makes an error.
    public init(id: String) { self.id = id }

    /// A sentence with the id.
    public var description: String { "job \(id) is not this worker's any more" }
}

import ErrandText

/// A failure that a handler throws, with control over the retry.
///
/// Any other error is a failure, too, and is retried while retries are left.
public struct JobFailure: Error, Sendable, CustomStringConvertible {
    /// Why the run failed.
    public let message: String
    /// Whether the job is not retried.
    public let isFinal: Bool
    /// The delay before the retry, instead of the operation's own.
    public let retryAfter: Duration?
    /// What waits for ``retryAfter``: the job, or its whole group.
    public let scope: Scope

    /// What waits before a retry.
    public enum Scope: Sendable {
        /// The job, whose run counts as a failed attempt.
        case job
        /// The job's group: none of its jobs starts before that, and this one is the first of them. The run spends no
        /// attempt, and is reported as snoozed. A job without a group waits alone.
        case group
    }

    /// Makes a failure.
    public init(_ message: String, isFinal: Bool = false, retryAfter: Duration? = nil) {
        self.message = message
        self.isFinal = isFinal
        self.retryAfter = retryAfter
        scope = .job
    }

    /// Makes a failure after which the job, or its whole group, waits for a while: an API has answered, for instance,
    /// that a customer made too many calls. A group rests for 1 s at least and for 30 days at most.
    ///
    /// ```swift
    /// throw JobFailure("the API asks for a pause", retryAfter: .seconds(30), scope: .group)
    /// ```
    public init(_ message: String = "asked to come back later", retryAfter: Duration, scope: Scope) {
        self.message = message
        self.retryAfter = retryAfter
        self.scope = scope
        isFinal = false
    }

    /// The message.
    public var description: String { message }

    /// Returns the same failure with a text before its message.
    package func prefixed(_ text: String) -> JobFailure {
        JobFailure(message: text + message, isFinal: isFinal, retryAfter: retryAfter, scope: scope)
    }

    private init(message: String, isFinal: Bool, retryAfter: Duration?, scope: Scope) {
        (self.message, self.isFinal, self.retryAfter, self.scope) = (message, isFinal, retryAfter, scope)
    }
}

/// An error that a handler throws to end its job as cancelled, because the work is no longer needed.
///
/// The job ends `cancelled` even if retries are left, and its name is free.
public struct JobCancellation: Error, Sendable, CustomStringConvertible {
    /// Why the job is cancelled.
    public let reason: String

    /// Makes a cancellation.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }
}

/// An error that a handler throws to run its job again later without spending an attempt.
public struct JobSnooze: Error, Sendable {
    /// How long to wait.
    public let pause: Duration

    /// Makes a snooze.
    public init(for pause: Duration) { self.pause = pause }
}

/// The error that ``JobRetryStrategy/shouldRetry(attempt:error:)`` receives for a run that timed out.
public struct JobTimedOut: Error, Sendable, CustomStringConvertible {
    /// The timeout.
    public let timeout: Duration

    /// Makes an error.
    public init(timeout: Duration) { self.timeout = timeout }

    /// A sentence with the timeout, such as `1 min 30 s`.
    public var description: String { "took longer than its timeout of \(TimeSpanText.exact(timeout))" }
}

/// The error that a job's context throws if this worker no longer has the claim: it was disconnected for longer than
/// its lease, or the job's hard deadline has passed. Another worker may run the job, so the handler should stop.
public struct ClaimLost: Error, Sendable, CustomStringConvertible {
    /// The job's id.
    public let id: String

    /// Makes an error.
    public init(id: String) { self.id = id }

    /// A sentence with the id.
    public var description: String {
        "job \(id) is not this worker's any more; end its handler, because another worker may run it"
    }
}

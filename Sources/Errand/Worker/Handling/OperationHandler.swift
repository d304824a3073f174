/// What a handler says became of its run.
public enum HandlerOutcome: Sendable {
    /// It is done; the result is kept for a time, cut to 64 KiB.
    case finished(result: [UInt8] = [])
    /// It failed: tried again while retries last unless `isFinal`, after `retryAfter` if that is given.
    case failed(String, isFinal: Bool = false, retryAfter: Duration? = nil)
    /// It wants to be tried again later without spending an attempt.
    case snoozed(Duration)
    /// It is not wanted any more: the job ends `cancelled` for good, with this reason.
    case cancelled(String)
}

/// Runs one operation's jobs.
public enum OperationHandler: Sendable {
    /// Runs on a thread of the background queue; may block it.
    case blocking(@Sendable (JobContext) throws -> HandlerOutcome)
    /// Runs in a `Task`, which is cancelled when the job times out or is to stop.
    case async(@Sendable (JobContext) async throws -> HandlerOutcome)
}

/// An operation that a worker knows.
public struct RegisteredOperation: Sendable {
    /// The operation's name.
    public let name: String
    /// What applies to jobs that do not say it themselves.
    public let defaults: OperationDefaults
    /// The queue in which its jobs are expected: a worker that was not told its queues serves it. "default" when `nil`.
    public let queue: String?
    /// Whether and when failed jobs are retried, while retries last. A job's own ``OperationDescription/backoff`` takes
    /// precedence over its waits.
    public let retryStrategy: any JobRetryStrategy
    /// What runs them.
    public let handler: OperationHandler

    /// Makes an operation from a handler.
    public init(
        _ name: String,
        defaults: OperationDefaults = OperationDefaults(),
        queue: String? = nil,
        retryStrategy: any JobRetryStrategy = RetryDelays(),
        handler: OperationHandler
    ) {
        self.name = name
        self.defaults = defaults
        self.queue = queue
        self.retryStrategy = retryStrategy
        self.handler = handler
    }

    /// Makes an operation from a closure that may block its thread; it is done when the closure returns.
    ///
    /// ```swift
    /// RegisteredOperation("thumbnail") { job in try shrink(job.arguments.decode(Photo.self)) }
    /// ```
    public init(
        _ name: String,
        timeout: Duration = .seconds(10),
        retries: Int = 3,
        _ body: @escaping @Sendable (JobContext) throws -> Void
    ) {
        self.init(
            name,
            defaults: OperationDefaults(timeout: timeout, retries: retries),
            handler: .blocking { job in
                try body(job)
                return .finished()
            }
        )
    }

    /// Makes an operation from an `async` closure, whose task is cancelled when the job times out or is to stop.
    public init(
        _ name: String,
        timeout: Duration = .seconds(10),
        retries: Int = 3,
        _ body: @escaping @Sendable (JobContext) async throws -> Void
    ) {
        self.init(
            name,
            defaults: OperationDefaults(timeout: timeout, retries: retries),
            handler: .async { job in
                try await body(job)
                return .finished()
            }
        )
    }
}

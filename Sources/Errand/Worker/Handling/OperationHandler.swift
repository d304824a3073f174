/// How a handler's run ended.
public enum HandlerOutcome: Sendable, Equatable {
    /// The job is finished; the result is kept for a limited time, cut to 64 KiB.
    case finished(result: [UInt8] = [])
    /// The run failed. The job is retried while retries are left unless `isFinal`, after `retryAfter` if that is set.
    case failed(String, isFinal: Bool = false, retryAfter: Duration? = nil)
    /// The job runs again later and spends no attempt.
    case snoozed(Duration)
    /// The job's group rests for this time, and the job is the first one of it to run then. It spends no attempt. Without
    /// a group the job is snoozed. The text says why.
    case groupRests(Duration, String)
    /// The job ends `cancelled` with this reason, and is not retried.
    case cancelled(String)
}

/// Runs one operation's jobs.
public enum OperationHandler: Sendable {
    /// Runs on a thread of its slot; may block it.
    case blocking(@Sendable (JobContext) throws -> HandlerOutcome)
    /// Runs in a `Task`, which is cancelled when the job times out or is to stop.
    case async(@Sendable (JobContext) async throws -> HandlerOutcome)
}

/// An operation that a worker can run. A class, because each run of a job refers to its operation.
public final class RegisteredOperation: Sendable {
    /// The operation's name.
    public let name: String
    /// Defaults for jobs that do not set these values.
    public let defaults: OperationDefaults
    /// The queue of its jobs, which a worker without configured queues serves. "default" if `nil`.
    public let queue: String?
    /// Decides whether and when failed jobs are retried, while retries are left. A job's own
    /// ``OperationDescription/backoff`` takes precedence over the strategy's delays.
    public let retryStrategy: any JobRetryStrategy
    /// The handler of its jobs.
    public let handler: OperationHandler
    /// Why the operation cannot be served, as its type was found to be.
    let problem: DescriptionError?

    /// Makes an operation from a handler.
    public convenience init(
        _ name: String,
        defaults: OperationDefaults = OperationDefaults(),
        queue: String? = nil,
        retryStrategy: any JobRetryStrategy = RetryDelays(),
        handler: OperationHandler
    ) {
        self.init(name, defaults, queue: queue, retryStrategy, problem: nil, handler: handler)
    }

    /// Makes an operation of a type, which may have a problem.
    init(
        _ name: String,
        _ defaults: OperationDefaults,
        queue: String?,
        _ retryStrategy: any JobRetryStrategy,
        problem: DescriptionError?,
        handler: OperationHandler
    ) {
        self.name = name
        self.defaults = defaults
        self.queue = queue
        self.retryStrategy = retryStrategy
        self.problem = problem
        self.handler = handler
    }

    /// Makes an operation from a closure that may block its thread. The job finishes when the closure returns.
    ///
    /// ```swift
    /// RegisteredOperation("thumbnail") { job in try shrink(job.arguments.decode(Photo.self)) }
    /// ```
    public convenience init(
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

    /// Makes an operation from an `async` closure. Its task is cancelled if the job times out or has to stop.
    public convenience init(
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

import Logging

extension Worker {
    /// Registers what runs the jobs of a type.
    ///
    /// ```swift
    /// worker.registerJob(parameters: SendEmail.self, retryStrategy: .exponentialJitter()) { email, context in
    ///     context.logger.info("sending")
    ///     try await mailer.send(email)
    /// }
    /// ```
    ///
    /// The job's logger is the task's, too: `Logger.current` in whatever the handler calls names the job. Arguments that do
    /// not fit the type end the job dead with the reason; see ``JobParameters/jobVersion`` for those of another version.
    ///
    /// - Parameters:
    ///   - parameters: the type; also found by the handler's first parameter.
    ///   - retryStrategy: whether and when a failed job is retried; when left out, as often as the type's `retries` say with
    ///     its `backoff`, else three times with the waits of ``RetryDelays``. A job's own ``PushOptions/retries`` and
    ///     ``PushOptions/backoff`` take precedence.
    ///   - timeout: how long a run may take; the type's when left out, else 10 s.
    ///   - handler: runs one job in a task, which is cancelled when the job times out, is cancelled, or the worker stops. What
    ///     it throws decides what becomes of the job: see ``JobFailure``, ``JobSnooze`` and ``JobCancellation``; any other
    ///     error is a failure.
    public func registerJob<Parameters: JobParameters>(
        parameters: Parameters.Type = Parameters.self,
        retryStrategy: (any JobRetryStrategy)? = nil,
        timeout: Duration? = nil,
        _ handler: @escaping @Sendable (Parameters, JobContext) async throws -> Void
    ) {
        register(parameters, retryStrategy, timeout) { parameters, context in
            try await handler(parameters, context)
            return .finished()
        }
    }

    /// Registers what runs the jobs of a type and gives a result, which is kept for a time: a day, or the last 10,000, or 64
    /// MiB of a queue. ``Producer/result(of:as:within:)`` reads it.
    ///
    /// The parameters are those for jobs without a result. A result of more than 64 KiB of JSON
    /// fails the job for good: keep it elsewhere, and give back where.
    public func registerJob<Parameters: JobParameters, Result: Encodable & Sendable>(
        parameters: Parameters.Type = Parameters.self,
        retryStrategy: (any JobRetryStrategy)? = nil,
        timeout: Duration? = nil,
        _ handler: @escaping @Sendable (Parameters, JobContext) async throws -> Result
    ) {
        register(parameters, retryStrategy, timeout) { parameters, context in
            .finished(result: try JobResult.encode(try await handler(parameters, context)))
        }
    }

    /// Registers a type whose jobs know themselves how to run.
    public func registerJob<Work: Job>(
        _ job: Work.Type,
        retryStrategy: (any JobRetryStrategy)? = nil,
        timeout: Duration? = nil
    ) {
        registerJob(parameters: job, retryStrategy: retryStrategy, timeout: timeout) {
            try await $0.execute(context: $1)
        }
    }

    private func register<Parameters: JobParameters>(
        _ type: Parameters.Type,
        _ retryStrategy: (any JobRetryStrategy)?,
        _ timeout: Duration?,
        _ handler: @escaping @Sendable (Parameters, JobContext) async throws -> HandlerOutcome
    ) {
        let defaults = Parameters.jobDefaults
        for name in [Parameters.jobName] + Parameters.jobAliases {
            register(
                RegisteredOperation(
                    name,
                    defaults: OperationDefaults(
                        timeout: timeout ?? defaults.timeout ?? .seconds(10),
                        retries: (defaults.retries ?? retryStrategy?.maxRetries) ?? OperationDefaults().retries
                    ),
                    queue: defaults.queue,
                    retryStrategy: retryStrategy ?? defaults.backoff ?? RetryDelays(),
                    handler: .async { context in
                        try await withLogger(context.logger) { _ in
                            try await handler(try Parameters.read(context), context)
                        }
                    }
                )
            )
        }
    }
}

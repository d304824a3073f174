import Logging

extension Worker {
    /// Registers the handler of a type's jobs.
    ///
    /// ```swift
    /// worker.registerJob(parameters: SendEmail.self, retryStrategy: .exponentialJitter()) { email, context in
    ///     context.logger.info("sending")
    ///     try await mailer.send(email)
    /// }
    /// ```
    ///
    /// The job's logger is also the task's: `Logger.current` names the job in everything that the handler calls. A job
    /// whose arguments do not fit the type is dead, with the reason; see ``JobParameters/jobVersion`` for arguments of
    /// another version.
    ///
    /// - Parameters:
    ///   - parameters: the type; can be inferred from the handler's first parameter.
    ///   - retryStrategy: whether and when a failed job is retried. If `nil`, the type's `retries` and `backoff` apply,
    ///     or three retries with the delays of ``RetryDelays``. A job's own ``PushOptions/retries`` and
    ///     ``PushOptions/backoff`` take precedence.
    ///   - timeout: how long a run may take; if `nil`, the type's timeout, or 10 s.
    ///   - handler: runs one job in a task, which is cancelled if the job times out, is cancelled, or the worker stops.
    ///     A thrown error determines the outcome: see ``JobFailure``, ``JobSnooze`` and ``JobCancellation``; any other
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

    /// Registers the handler of a type's jobs whose results are kept.
    ///
    /// The broker keeps results for a day, at most 10,000 or 64 MiB of a queue. ``Producer/result(of:as:within:)``
    /// reads them. The parameters are those of the method for jobs without a result. A result of more than 64 KiB of
    /// JSON fails the job without a retry: store it elsewhere, and return its location.
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

    /// Registers a type that contains its own handler.
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
        let unknown = UniqueFields.unknown(defaults.uniqueness?.fields ?? [], of: type)
        for name in [Parameters.jobName] + Parameters.jobAliases {
            let operation = RegisteredOperation(
                name,
                OperationDefaults(
                    timeout: timeout ?? defaults.timeout ?? .seconds(10),
                    retries: (defaults.retries ?? retryStrategy?.maxRetries) ?? OperationDefaults().retries
                ),
                queue: defaults.queue,
                retryStrategy ?? defaults.backoff ?? RetryDelays(),
                problem: unknown.isEmpty ? nil : UniqueFields.error(unknown, of: type),
                handler: .async { context in
                    try await withLogger(context.logger) { _ in
                        try await handler(try Parameters.read(context), context)
                    }
                }
            )
            register(operation)
        }
    }
}

extension Producer {
    /// Pushes one job.
    ///
    /// ```swift
    /// let receipt = try await producer.push(SendEmail(to: "ada@example.org", template: "welcome"))
    /// ```
    ///
    /// - Parameters:
    ///   - parameters: the job's parameters.
    ///   - options: what is special about this job; everything else comes from the type's
    ///     ``JobParameters/jobDefaults``.
    /// - Throws: ``DescriptionError`` if the job is invalid, ``BrokerError`` if the broker certainly did not accept it.
    ///   A lost reply does not throw: the receipt's outcome is `unknown`, and pushing the job again with the receipt's
    ///   id in the options never creates a second one.
    @discardableResult
    public func push<Parameters: JobParameters>(
        _ parameters: Parameters,
        options: PushOptions = PushOptions()
    ) async throws -> Receipt {
        let start = try await start(of: options, on: options.queue ?? Parameters.jobDefaults.queue ?? "default")
        return try await push(try parameters.described(options, now: start))
    }

    /// Pushes many jobs of a type in one call, in order.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of each job.
    ///   - options: what is special about these jobs, the same for all; without an id.
    /// - Returns: a receipt for each job, in order.
    /// - Throws: as ``push(_:options:)``; the broker has then accepted no job.
    @discardableResult
    public func push<Parameters: JobParameters>(
        contentsOf parameters: some Sequence<Parameters>,
        options: PushOptions = PushOptions()
    ) async throws -> [Receipt] {
        let start = try await start(of: options, on: options.queue ?? Parameters.jobDefaults.queue ?? "default")
        return try await push(contentsOf: parameters.map { try $0.described(options, now: start) })
    }
}

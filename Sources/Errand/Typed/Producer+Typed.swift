extension Producer {
    /// Pushes one job.
    ///
    /// ```swift
    /// let receipt = try await producer.push(SendEmail(to: "ada@example.org", template: "welcome"))
    /// ```
    ///
    /// - Parameters:
    ///   - parameters: what it works on.
    ///   - options: what is special about it; the rest is as the type's ``JobParameters/jobDefaults`` say.
    /// - Throws: ``DescriptionError`` when the job cannot be pushed as it stands, ``BrokerError`` when the broker certainly did
    ///   not take it. A lost answer does not throw: the receipt says `unknown`, and pushing the job again with the receipt's
    ///   id in the options never makes a second one.
    @discardableResult
    public func push<Parameters: JobParameters>(
        _ parameters: Parameters,
        options: PushOptions = PushOptions()
    ) async throws -> Receipt {
        let start = try await start(of: options)
        return try await push(try parameters.described(options, now: start))
    }

    /// Pushes many jobs of a type in one call, in order.
    ///
    /// - Parameters:
    ///   - parameters: what they work on.
    ///   - options: what is special about them, the same for all; without an id.
    /// - Returns: a receipt for each, in their order.
    /// - Throws: as ``push(_:options:)``; none was taken then.
    @discardableResult
    public func push<Parameters: JobParameters>(
        contentsOf parameters: some Sequence<Parameters>,
        options: PushOptions = PushOptions()
    ) async throws -> [Receipt] {
        let start = try await start(of: options)
        return try await push(contentsOf: parameters.map { try $0.described(options, now: start) })
    }
}

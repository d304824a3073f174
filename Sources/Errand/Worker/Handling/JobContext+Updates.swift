extension JobContext {
    /// Reports the progress of the job. The broker stores the last progress, and publishes it as an event `progress`.
    ///
    /// A report costs a round trip, so report now and then rather than for every row.
    ///
    /// - Parameters:
    ///   - fraction: the part that is done, from 0 to 1.
    ///   - message: what the job does now, for people; cut to 1,024 bytes.
    /// - Throws: ``ClaimLost`` if this worker no longer has the claim, ``BrokerError`` if the call fails.
    public func progress(_ fraction: Double, _ message: String? = nil) async throws {
        try await send(JobUpdate(id: id, token: token, progress: JobProgress(fraction, message)))
    }

    /// Stores a value for the next attempt of this job, on whichever machine that runs: the last completed page, for
    /// instance.
    ///
    /// A new checkpoint replaces the old one. Checkpoints are deleted when the job ends.
    ///
    /// ```swift
    /// var done = try await job.checkpoint(as: Int.self) ?? 0
    /// while done < pages {
    ///     try await render(page: done)
    ///     done += 1
    ///     try await job.checkpoint(done)
    /// }
    /// ```
    ///
    /// - Throws: ``ClaimLost`` if this worker no longer has the claim, ``BrokerError`` if the call fails,
    ///   ``JobFailure`` if the value has more than 64 KiB as JSON.
    public func checkpoint(_ value: some Encodable) async throws {
        let bytes = try JSONText(encoding: value).bytes
        guard bytes.count <= JobUpdate.checkpointBytes else {
            throw JobFailure("the checkpoint has \(bytes.count) bytes of JSON; at most 65536 are kept", isFinal: true)
        }
        try await send(JobUpdate(id: id, token: token, checkpoint: bytes))
    }

    /// Returns the last value that this or an earlier attempt of the job has stored with ``checkpoint(_:)``; `nil` if
    /// there is none.
    ///
    /// - Throws: `DecodingError` if the value does not fit the type, ``BrokerError`` if the call fails.
    public func checkpoint<Value: Decodable>(as type: Value.Type) async throws -> Value? {
        guard let bytes = try await run.session.broker.checkpoint(of: id, on: queue) else { return nil }
        return try JSONText(validating: bytes).decode(type)
    }

    private func send(_ update: JobUpdate) async throws {
        let session = run.session
        guard try await session.broker.update(update, of: session.session, on: queue) else { throw ClaimLost(id: id) }
    }
}

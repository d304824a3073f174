extension JobContext {
    /// Tells how far the job is. The broker keeps the last progress, and publishes an event `progress` with it.
    ///
    /// It costs a round trip, so tell it now and then, not with every row.
    ///
    /// - Parameters:
    ///   - fraction: the part that is done, from 0 to 1.
    ///   - message: what it does now, for people; cut to 1,024 bytes.
    /// - Throws: ``ClaimLost`` when the job is not this worker's any more, ``BrokerError`` when the broker cannot be asked.
    public func progress(_ fraction: Double, _ message: String? = nil) async throws {
        try await send(JobUpdate(id: id, token: token, progress: JobProgress(fraction, message)))
    }

    /// Keeps what the next attempt of this job is to know, wherever it runs: how far it came, for instance. A newer checkpoint
    /// takes the place of an older one; when the job ends, it is gone.
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
    /// - Throws: ``ClaimLost`` when the job is not this worker's any more, ``BrokerError`` when the broker cannot be asked,
    ///   ``JobFailure`` when the value has more than 64 KiB as JSON.
    public func checkpoint(_ value: some Encodable) async throws {
        let bytes = try JSONText(encoding: value).bytes
        guard bytes.count <= JobUpdate.checkpointBytes else {
            throw JobFailure("the checkpoint has \(bytes.count) bytes of JSON; at most 65536 are kept", isFinal: true)
        }
        try await send(JobUpdate(id: id, token: token, checkpoint: bytes))
    }

    /// What an earlier attempt of this job, or this one, has kept by ``checkpoint(_:)``; `nil` when there is nothing.
    ///
    /// - Throws: `DecodingError` when it is something else, ``BrokerError`` when the broker cannot be asked.
    public func checkpoint<Value: Decodable>(as type: Value.Type) async throws -> Value? {
        guard let bytes = try await run.poller.checkpoint(of: id) else { return nil }
        return try JSONText(validating: bytes).decode(type)
    }

    private func send(_ update: JobUpdate) async throws {
        guard try await run.poller.update(update) else { throw ClaimLost(id: id) }
    }
}

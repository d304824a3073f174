import Logging

extension JobContext {
    /// Reports the progress of the job. The broker stores the last progress, and publishes it as an event `progress`.
    ///
    /// A report costs a round trip, so report now and then rather than for every row. While the broker does not reply, a
    /// report waits for it as every call does (10 s unless its options say otherwise), and is then left out: a job must not
    /// fail because of it.
    ///
    /// - Parameters:
    ///   - fraction: the part that is done, from 0 to 1.
    ///   - message: what the job does now, for people; cut to 1,024 bytes.
    /// - Throws: ``ClaimLost`` if this worker no longer has the claim, ``BrokerError`` if the broker rejects the report.
    public func progress(_ fraction: Double, _ message: String? = nil) async throws {
        do {
            try await send(JobUpdate(id: id, token: token, progress: JobProgress(fraction, message)))
        } catch let error as BrokerError where error.isPassing {
            let metadata: Logger.Metadata = ["job.id": "\(id)", "job.queue": "\(queue)", "error": "\(error)"]
            run.session.logger.debug("progress not reported", metadata: metadata)
        }
    }

    /// Stores a value for the next attempt of this job, on whichever machine that runs: the last completed page, for
    /// instance.
    ///
    /// A new checkpoint replaces the old one. Checkpoints are deleted when the job ends. While the broker does not reply,
    /// this waits for it, for as long as the run may last.
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
    /// - Throws: ``ClaimLost`` if this worker no longer has the claim, ``BrokerError`` if the broker rejects the
    ///   checkpoint or the run has to stop before it replies, ``JobFailure`` if the value has more than 64 KiB as JSON.
    public func checkpoint(_ value: some Encodable) async throws {
        try await checkpoint(text: try JSONText(encoding: value))
    }

    /// Does the same with a value that is JSON already.
    package func checkpoint(text: JSONText) async throws {
        let bytes = text.bytes
        guard bytes.count <= JobUpdate.checkpointBytes else {
            throw JobFailure(
                "the checkpoint has \(bytes.count) bytes of JSON, but at most 65536 are kept; store it elsewhere and keep a reference",
                isFinal: true
            )
        }
        let update = JobUpdate(id: id, token: token, checkpoint: bytes)
        try await throughOutages { try await send(update) }
    }

    /// Returns the last value that this or an earlier attempt of the job has stored with ``checkpoint(_:)``; `nil` if
    /// there is none.
    ///
    /// - Throws: `DecodingError` if the value does not fit the type, ``BrokerError`` if the broker rejects the call or the
    ///   run has to stop before it replies.
    public func checkpoint<Value: Decodable>(as type: Value.Type) async throws -> Value? {
        try await checkpointText()?.decode(type)
    }

    /// Returns the same value as JSON.
    package func checkpointText() async throws -> JSONText? {
        let stored = try await throughOutages { try await run.session.broker.checkpoint(of: id, on: queue) }
        return try stored.map { try JSONText(validating: $0) }
    }

    /// Makes a call again while the broker does not reply: the job need not fail because of that, and its outcome will wait
    /// as well. The fence of its token makes a repetition harmless.
    func throughOutages<Value>(_ call: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await call() } catch let error as BrokerError {
                guard error.isPassing, !run.isToldToStop else { throw error }
                try await Task.sleep(for: Self.pauseInOutages)
            }
        }
    }

    private static var pauseInOutages: Duration { .milliseconds(200) }

    private func send(_ update: JobUpdate) async throws {
        let session = run.session
        guard try await session.broker.update(update, of: session.session, on: queue) else { throw ClaimLost(id: id) }
    }
}

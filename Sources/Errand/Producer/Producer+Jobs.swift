/// Finds and cancels pushed jobs.
extension Producer {
    /// Returns the broker's record of a pushed job, for example to show its state and its progress.
    ///
    /// ```swift
    /// let receipt = try JSONDecoder().decode(Receipt.self, from: stored)
    /// guard let job = try await producer.job(receipt) else { return nil }
    /// return job.state == .finished ? 1 : job.progress?.fraction
    /// ```
    ///
    /// - Parameter receipt: the receipt of the push, which may have been stored; if the push was `dropped`, the job that
    ///   holds the name.
    /// - Returns: the record; `nil` if the broker does not have the job (any more): ended jobs are kept for a day, at most
    ///   10,000 of a queue.
    /// - Throws: ``BrokerError`` if the broker cannot be reached or rejects the call.
    public func job(_ receipt: Receipt) async throws(BrokerError) -> JobRecord? {
        try await broker.inspect([receipt.id], on: receipt.queue).first ?? nil
    }

    /// Returns the broker's record of the job with an id, and its queue. Ids are unique only within a queue; of several jobs
    /// it returns the one in the first queue by name.
    ///
    /// - Parameters:
    ///   - id: the job's id.
    ///   - queue: the queue to look in; if `nil`, all queues, with one call for each.
    /// - Returns: as ``job(_:)``.
    /// - Throws: ``BrokerError`` if the broker cannot be reached or rejects the call.
    public func job(
        _ id: String,
        in queue: String? = nil
    ) async throws(BrokerError) -> (record: JobRecord, queue: String)? {
        let queues = if let queue { [queue] } else { try await broker.queues() }
        for queue in queues {
            if let record = try await broker.inspect([id], on: queue).first ?? nil { return (record, queue) }
        }
        return nil
    }

    /// Returns the state of a pushed job; `nil` as for ``job(_:)``.
    public func status(of receipt: Receipt) async throws(BrokerError) -> JobState? { try await job(receipt)?.state }

    /// The broker's records of a pushed job: the present one at once, then each that differs from the last, until the job has
    /// ended. It serves to stream a job's state and progress to a client.
    ///
    /// ```swift
    /// for try await job in producer.updates(of: receipt) {
    ///     print(job.state, job.progress?.fraction ?? 0)
    /// }
    /// ```
    ///
    /// The stream ends with the record of the ended job, or without one if the broker does not have the job. While the
    /// broker is unreachable, it waits; it fails with ``BrokerError`` if the broker rejects the calls.
    public func updates(of receipt: Receipt) -> AsyncThrowingStream<JobRecord, any Error> {
        let watch = JobWatch(broker: broker, id: receipt.id, queue: receipt.queue)
        return AsyncThrowingStream { continuation in
            let watching = Task {
                var last: JobRecord?
                do {
                    try await watch.follow { record in
                        guard let record, record != last else { return }
                        last = record
                        continuation.yield(record)
                    }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in watching.cancel() }
        }
    }

    /// Cancels a pushed job. A waiting job ends at once; a running one is asked to stop, and ends when its handler does.
    ///
    /// If the push was `dropped`, this cancels the job that holds the name, which another push may rely on.
    ///
    /// - Returns: what became of the job.
    /// - Throws: ``BrokerError`` if the broker cannot be reached or rejects the call.
    @discardableResult
    public func cancel(_ receipt: Receipt) async throws(BrokerError) -> EndingOutcome {
        guard let outcome = try await broker.cancel([receipt.id], on: receipt.queue).first else {
            throw BrokerError(.protocolViolation, "the broker returned no outcome")
        }
        return outcome
    }
}

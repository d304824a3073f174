/// Finds, awaits and cancels pushed workflows.
extension Producer {
    /// Returns the broker's record of a pushed workflow: its name, its state, how many of its jobs have ended.
    ///
    /// - Parameter receipt: the receipt of the push; if the push was `dropped`, the workflow that has the name.
    /// - Returns: the record; `nil` if the broker does not have the workflow (any more): ended ones are kept for a day, at
    ///   most 10,000 of a queue.
    /// - Throws: ``BrokerError`` if the broker cannot be reached or rejects the call.
    public func workflow(_ receipt: WorkflowReceipt) async throws(BrokerError) -> WorkflowRecord? {
        try await broker.workflow(try receipt.id)
    }

    /// Returns the state of a pushed workflow; `nil` as for ``workflow(_:)``.
    public func status(of receipt: WorkflowReceipt) async throws(BrokerError) -> WorkflowState? {
        try await workflow(receipt)?.state
    }

    /// Cancels whatever has not ended of a pushed workflow. Running jobs are asked to stop.
    ///
    /// If the push was `dropped`, this cancels the workflow that has the name, which another push may rely on.
    ///
    /// - Returns: what became of the workflow.
    /// - Throws: ``BrokerError`` if the broker cannot be reached or rejects the call.
    @discardableResult
    public func cancel(_ receipt: WorkflowReceipt) async throws(BrokerError) -> WorkflowChange {
        try await broker.cancel(try receipt.id)
    }

    /// The broker's records of a pushed workflow: the present one at once, then each that differs from the last, until it
    /// has finished, failed or been cancelled. It serves to show its progress.
    ///
    /// The stream ends without a record if the broker does not have the workflow. While the broker is unreachable, it
    /// waits; it fails with ``BrokerError`` if the broker rejects the calls.
    public func updates(of receipt: WorkflowReceipt) -> AsyncThrowingStream<WorkflowRecord, any Error> {
        AsyncThrowingStream { continuation in
            let watching = Task {
                var last: WorkflowRecord?
                do {
                    try await follow(receipt) { record in
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

    /// Waits until a pushed workflow has finished, 30 s by default.
    ///
    /// A workflow with a dead job has failed, also if other jobs still run, unless it ignores dead jobs.
    ///
    /// ```swift
    /// let receipt = try await producer.push(flow)
    /// try await producer.result(of: receipt, within: .seconds(600))
    /// ```
    ///
    /// - Parameters:
    ///   - receipt: the receipt of the push.
    ///   - limit: how long to wait, 30 s by default; without a limit if `nil`.
    /// - Returns: the record of the finished workflow.
    /// - Throws: ``WorkflowNotFinished`` if it has failed, was cancelled, the time ran out, or the broker does not have it
    ///   (any more), with the reason; ``BrokerError`` if the broker rejects the call; `CancellationError` if the task is
    ///   cancelled. While the broker is unreachable, it waits.
    @discardableResult
    public func result(
        of receipt: WorkflowReceipt,
        within limit: Duration? = .seconds(30)
    ) async throws -> WorkflowRecord {
        let ending = try await ending(of: receipt, within: limit)
        if let record = ending.record, record.state == .finished { return record }
        throw WorkflowNotFinished(
            id: receipt.workflow,
            state: ending.record?.state,
            isOutOfTime: ending.isOutOfTime,
            limit: limit,
            reason: await ending.record.reason(from: self)
        )
    }

    private func ending(of receipt: WorkflowReceipt, within limit: Duration?) async throws -> WorkflowEnding {
        try await TimedLook(
            untilEnded: {
                var last: WorkflowRecord?
                try await follow(receipt) { last = $0 }
                return WorkflowEnding(record: last, isOutOfTime: false)
            },
            once: {
                let record = try await workflow(receipt)
                return WorkflowEnding(record: record, isOutOfTime: record?.state == .running)
            },
            instead: WorkflowEnding(record: nil, isOutOfTime: true)
        ).result(within: limit)
    }

    private func follow(_ receipt: WorkflowReceipt, _ tell: (WorkflowRecord?) -> Void) async throws {
        let id = try receipt.id
        let watch = EventWatch(
            broker: broker,
            id: receipt.workflow,
            queue: id.queue,
            longestPause: .seconds(1)
        )
        try await watch.follow { () async throws(BrokerError) in
            let record = try await broker.workflow(id)
            tell(record)
            return record?.state != .running
        }
    }
}

/// How a workflow ended, or its record when the wait was over.
private struct WorkflowEnding: Sendable {
    let record: WorkflowRecord?
    let isOutOfTime: Bool
}

extension WorkflowReceipt {
    /// The workflow's id.
    package var id: WorkflowID {
        get throws(BrokerError) {
            guard let id = WorkflowID(workflow) else {
                throw BrokerError(
                    .refused,
                    "\"\(workflow)\" is not the id of a workflow, such as mail:4fJ0aQ9bX2cD7eHk"
                )
            }
            return id
        }
    }
}

// MARK: - Why a workflow has not finished

extension WorkflowRecord? {
    /// Returns why a workflow has not finished. It is only an explanation, so a broker that does not reply is none.
    fileprivate func reason(from producer: Producer) async -> String? {
        guard let record = self else { return nil }
        switch record.state {
        case .finished: return nil
        case .cancelled: return nil
        case .failed: return await producer.failure(of: record)
        case .running:
            let open = "\(record.open) of its \(record.count) jobs have not ended"
            return await producer.obstacle(to: record).map { "\(open); \($0)" } ?? open
        }
    }
}

extension Producer {
    /// Jobs of a workflow that are looked at for an explanation.
    private static let examined = 10_000

    fileprivate func failure(of record: WorkflowRecord) async -> String? {
        guard let job = await member(of: record, where: { $0.state.isFailure }) else { return nil }
        let advice = job.state == .dead && record.dead > 0 ? "; errand workflow retry \(record.id) goes on with it" : ""
        return "its job \(job.key) (\(job.id)) is \(job.state.rawValue)\(advice)"
    }

    /// Returns what the first job that could go on waits for.
    fileprivate func obstacle(to record: WorkflowRecord) async -> String? {
        guard let job = await member(of: record, where: { $0.state.isUnderWay }) else { return nil }
        let receipt = Receipt(id: job.id, queue: job.queue, outcome: .accepted)
        let reason = await obstacle(to: receipt, job.state).map { ": \($0)" } ?? ""
        return "\(job.key) (\(job.id)) is \(job.state.rawValue)\(reason)"
    }

    private func member(
        of record: WorkflowRecord,
        where fits: (WorkflowMemberRecord) -> Bool
    ) async -> WorkflowMemberRecord? {
        for first in stride(from: 0, to: min(record.count, Self.examined), by: WorkflowLimits.page) {
            let page = try? await broker.members(of: record.id, from: first, count: WorkflowLimits.page)
            guard let page, !page.isEmpty else { return nil }
            if let found = page.first(where: fits) { return found }
        }
        return nil
    }
}

extension JobState {
    fileprivate var isFailure: Bool { [.dead, .cancelled, .deleted, .expired].contains(self) }

    fileprivate var isUnderWay: Bool { [.ready, .scheduled, .running, .retrying, .deferred].contains(self) }
}

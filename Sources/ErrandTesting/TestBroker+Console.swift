public import Errand

extension TestBroker {
    /// Returns the queues that exist.
    public func queues() async throws(BrokerError) -> [String] { try await memory.queues() }

    /// Creates an empty queue.
    @discardableResult
    public func createQueue(_ queue: String) async throws(BrokerError) -> Bool { try await memory.createQueue(queue) }

    /// Returns whether a queue exists.
    public func hasQueue(_ queue: String) async throws(BrokerError) -> Bool { try await memory.hasQueue(queue) }

    /// Deletes a queue with all its data.
    @discardableResult
    public func deleteQueue(_ queue: String, force: Bool) async throws(BrokerError) -> QueueDeletion {
        try await memory.deleteQueue(queue, force: force)
    }

    /// Returns a queue's counts and the sessions that serve it.
    public func status(
        of queue: String
    ) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus]) {
        try await memory.status(of: queue)
    }

    /// Returns a queue's statistics.
    public func statistics(
        of queue: String,
        _ resolution: StatisticsResolution,
        from: Int64,
        to: Int64,
        withRuns: Bool
    ) async throws(BrokerError) -> QueueStatistics {
        try await memory.statistics(of: queue, resolution, from: from, to: to, withRuns: withRuns)
    }

    /// Returns the runs of each operation since the queue was created.
    public func runTotals(of queue: String) async throws(BrokerError) -> [String: RunStatistics] {
        try await memory.runTotals(of: queue)
    }

    /// Returns the records of these jobs; `nil` for those that the broker does not have.
    public func inspect(_ ids: [String], on queue: String) async throws(BrokerError) -> [JobRecord?] {
        try await memory.inspect(ids, on: queue)
    }

    /// Returns one page of the jobs in a state.
    public func jobs(
        in state: JobState,
        on queue: String,
        from cursor: Int,
        count: Int
    ) async throws(BrokerError) -> JobPage { try await memory.jobs(in: state, on: queue, from: cursor, count: count) }

    /// Cancels jobs.
    public func cancel(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] {
        try await memory.cancel(ids, on: queue)
    }

    /// Deletes jobs.
    public func delete(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] {
        try await memory.delete(ids, on: queue)
    }

    /// Retries dead jobs.
    public func retry(_ ids: [String], on queue: String) async throws(BrokerError) -> [RetryOutcome] {
        defer { gate.noteWork(in: queue) }
        return try await memory.retry(ids, on: queue)
    }

    /// Cancels waiting jobs and returns their number.
    public func clear(_ queue: String) async throws(BrokerError) -> Int { try await memory.clear(queue) }

    /// Changes a queue's settings.
    public func configure(_ queue: String, _ change: QueueSettings) async throws(BrokerError) {
        defer { gate.noteWork(in: queue) }
        try await memory.configure(queue, change)
    }

    /// Sets the rule for the groups of a pattern.
    public func setFlow(_ queue: String, matching pattern: String, _ rule: FlowRule) async throws(BrokerError) {
        defer { gate.noteWork(in: queue) }
        try await memory.setFlow(queue, matching: pattern, rule)
    }

    /// Deletes the rule of a pattern, and returns whether there was one.
    @discardableResult
    public func deleteFlow(_ queue: String, matching pattern: String) async throws(BrokerError) -> Bool {
        defer { gate.noteWork(in: queue) }
        return try await memory.deleteFlow(queue, matching: pattern)
    }

    /// Returns the rules of a queue, sorted by pattern.
    public func flow(of queue: String) async throws(BrokerError) -> [FlowPattern] { try await memory.flow(of: queue) }

    /// Returns the groups with the most jobs, or one of them.
    public func groups(
        of queue: String,
        named group: String?,
        most: Int
    ) async throws(BrokerError) -> [GroupStatus] { try await memory.groups(of: queue, named: group, most: most) }

    /// Returns the events of these queues, or of every queue.
    public func events(
        of queues: [String]?,
        onSubscribed: @escaping @Sendable () -> Void
    ) -> AsyncThrowingStream<QueueEvents, any Error> { memory.events(of: queues, onSubscribed: onSubscribed) }

    /// Checks a queue's invariants, and repairs it if requested.
    public func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding] {
        try await memory.audit(queue, repair: repair)
    }
}

extension MemoryBroker {
    /// Returns the names of all queues, sorted.
    public func queues() async throws(BrokerError) -> [String] { knownQueues }

    /// Creates an empty queue.
    @discardableResult
    public func createQueue(_ queue: String) async throws(BrokerError) -> Bool { try create(queue) }

    /// Returns whether a queue was pushed to, served, scheduled for or created, and not deleted since.
    public func hasQueue(_ queue: String) async throws(BrokerError) -> Bool { knownQueues.contains(queue) }

    /// Deletes a queue with all of its data.
    @discardableResult
    public func deleteQueue(_ queue: String, force: Bool) async throws(BrokerError) -> QueueDeletion {
        try forget(queue, force: force)
    }

    /// Returns a queue's counts and totals, and the sessions that serve it, sorted by id.
    public func status(
        of queue: String
    ) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus]) {
        try change(queue) { ($0.status, $0.sessionStatuses) }
    }

    /// Returns the records of these jobs, in order; `nil` for an id that the broker does not have.
    public func inspect(_ ids: [String], on queue: String) async throws(BrokerError) -> [JobRecord?] {
        try change(queue) { queue in ids.map { queue.record(of: $0) } }
    }

    /// Returns one page of at most 500 jobs in a state.
    public func jobs(
        in state: JobState,
        on queue: String,
        from cursor: Int,
        count: Int
    ) async throws(BrokerError) -> JobPage {
        try change(queue) { $0.page(of: state, from: cursor, count: count) }
    }

    /// Cancels jobs. Waiting jobs end immediately; running jobs are asked to stop.
    public func cancel(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] {
        try change(queue) { queue in ids.map { queue.cancel($0) } }
    }

    /// Removes jobs that are waiting, dead or ended. A running job must be cancelled first.
    public func delete(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] {
        try change(queue) { queue in ids.map { queue.delete($0) } }
    }

    /// Retries dead jobs with fresh attempts, if their name is free. Jobs that wait for their time become ready
    /// immediately.
    public func retry(_ ids: [String], on queue: String) async throws(BrokerError) -> [RetryOutcome] {
        try change(queue) { queue in ids.map { queue.retry($0) } }
    }

    /// Cancels waiting jobs, at most 500, deferred ones last.
    public func clear(_ queue: String) async throws(BrokerError) -> Int {
        try change(queue) { $0.clear() }
    }

    /// Changes the settings of an existing queue. A setting that is `nil` stays unchanged; 0 restores its default.
    public func configure(_ queue: String, _ change: QueueSettings) async throws(BrokerError) {
        guard try await hasQueue(queue) else { throw BrokerError(missingQueue: queue) }
        try self.change(queue) { queue throws(BrokerError) in try queue.configure(change) }
    }

    /// Sets the rule for the groups of a pattern.
    public func setFlow(_ queue: String, matching pattern: String, _ rule: FlowRule) async throws(BrokerError) {
        let matching = try FlowMatching(pattern)
        try rule.check(for: matching)
        try change(queue, creating: true) { queue throws(BrokerError) in
            try queue.checkRules(matching)
            queue.setFlow(matching, rule)
        }
    }

    /// Deletes the rule of a pattern, and returns whether there was one.
    @discardableResult
    public func deleteFlow(_ queue: String, matching pattern: String) async throws(BrokerError) -> Bool {
        let matching = try FlowMatching(pattern)
        return try change(queue) { queue in
            defer { queue.setFlow(matching, nil) }
            return queue.groups.rules[matching] != nil
        }
    }

    /// Returns the rules of a queue, sorted by pattern.
    public func flow(of queue: String) async throws(BrokerError) -> [FlowPattern] {
        try change(queue) { queue in
            queue.groups.rules.map { FlowPattern(pattern: $0.key.pattern, rule: $0.value) }.sorted {
                $0.pattern < $1.pattern
            }
        }
    }

    /// Returns the groups with the most jobs, or one of them.
    public func groups(
        of queue: String,
        named group: String?,
        most: Int
    ) async throws(BrokerError) -> [GroupStatus] {
        try change(queue) { $0.groupStatuses(of: group, most: min(most, GroupStatus.mostShown)) }
    }

    /// The events of these queues, or of every queue if `queues` is `nil`. A subscriber that is more than 8,192
    /// messages behind misses the oldest.
    public func events(
        of queues: [String]?,
        onSubscribed: @escaping @Sendable () -> Void
    ) -> AsyncThrowingStream<QueueEvents, any Error> {
        defer { onSubscribed() }
        return subscribers.events(of: queues)
    }

    /// Checks the invariants. There is nothing to repair, because only the broker can change its data.
    public func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding] {
        try change(queue) { $0.findings }
    }
}

extension MemoryBroker {
    /// The queues that a producer, a worker or an operator has made, sorted by name.
    public func queues() async throws(BrokerError) -> [String] { knownQueues }

    /// Creates an empty queue.
    @discardableResult
    public func createQueue(_ queue: String) async throws(BrokerError) -> Bool { try create(queue) }

    /// Returns whether a queue was pushed to, served, scheduled for or created, and not deleted since.
    public func hasQueue(_ queue: String) async throws(BrokerError) -> Bool { knownQueues.contains(queue) }

    /// Deletes a queue with everything that is kept of it.
    @discardableResult
    public func deleteQueue(_ queue: String, force: Bool) async throws(BrokerError) -> QueueDeletion {
        try forget(queue, force: force)
    }

    /// A queue's counts and totals, and the sessions that serve it, sorted by id.
    public func status(
        of queue: String
    ) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus]) {
        try change(queue) { ($0.status, $0.sessionStatuses) }
    }

    /// What the broker knows of these jobs; `nil` for an id it does not know.
    public func inspect(_ ids: [String], on queue: String) async throws(BrokerError) -> [JobRecord?] {
        try change(queue) { queue in ids.map { queue.record(of: $0) } }
    }

    /// One page of the jobs in a state, at most 500, and where the next page begins.
    public func jobs(
        in state: JobState,
        on queue: String,
        from cursor: Int,
        count: Int
    ) async throws(BrokerError) -> JobPage {
        try change(queue) { $0.page(of: state, from: cursor, count: count) }
    }

    /// Cancels jobs: those that wait end at once, those that run are told to stop.
    public func cancel(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] {
        try change(queue) { queue in ids.map { queue.cancel($0) } }
    }

    /// Removes jobs that wait, are dead, or have ended. A running job must be cancelled first.
    public func delete(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] {
        try change(queue) { queue in ids.map { queue.delete($0) } }
    }

    /// Puts dead jobs back in line with fresh attempts, when their name is free.
    public func retry(_ ids: [String], on queue: String) async throws(BrokerError) -> [RetryOutcome] {
        try change(queue) { queue in ids.map { queue.retry($0) } }
    }

    /// Cancels waiting jobs, at most 500; those that wait for a running job of their name stay.
    public func clear(_ queue: String) async throws(BrokerError) -> Int {
        try change(queue) { $0.clear() }
    }

    /// Changes a queue's settings, if it exists; `nil` leaves one as it is, 0 puts its default back.
    public func configure(_ queue: String, _ change: QueueSettings) async throws(BrokerError) {
        guard try await hasQueue(queue) else { throw BrokerError(missingQueue: queue) }
        try self.change(queue) { queue throws(BrokerError) in try queue.configure(change) }
    }

    /// The events of these queues, or of every queue. A subscriber that is more than 8,192 messages behind misses the
    /// oldest.
    public func events(
        of queues: [String]?,
        onSubscribed: @escaping @Sendable () -> Void
    ) -> AsyncThrowingStream<QueueEvents, any Error> {
        defer { onSubscribed() }
        return subscribers.events(of: queues)
    }

    /// Looks for broken invariants. There is nothing to mend here: nobody but the broker can reach its data.
    public func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding] {
        try change(queue) { $0.findings }
    }
}

/// One queue of the in-memory broker without the broker: its transitions are called one after the other at times that
/// the caller sets. For tests that make millions of them.
package struct MemoryTransitions: Sendable {
    var queue: MemoryQueue

    /// Makes an empty queue.
    package init(queue name: String) { queue = MemoryQueue(name: name) }

    /// Sets the time of the next transitions, in milliseconds since 1970 UTC.
    package mutating func setTime(_ now: Int64) { queue.now = now }

    /// Pushes jobs.
    package mutating func push(_ jobs: [JobEnvelope]) throws(BrokerError) -> [Receipt] { try queue.push(jobs) }
    /// Registers a session.
    package mutating func register(_ session: Session) throws(BrokerError) { try queue.register(session) }
    /// Reports ended runs and claims jobs.
    package mutating func exchange(_ call: Exchange) throws(BrokerError) -> ExchangeReply { try queue.exchange(call) }
    /// Sends a beat of a session.
    package mutating func beat(of session: Session, begun: Token) throws(BrokerError) -> Beat {
        try queue.beat(of: session, begun: begun)
    }
    /// Ends a session.
    package mutating func release(_ session: String) { queue.release(session) }
    /// Promotes due jobs.
    package mutating func promote() -> Promotion { queue.promote() }
    /// Compares a session's claims with its worker's runs.
    package mutating func reconcile(
        _ session: String,
        call: Int,
        runs: [(id: String, token: Token)]
    ) throws(BrokerError) -> Reconciliation {
        try queue.reconcile(session, call: call, runs: runs)
    }
    /// Recovers the jobs of dead sessions.
    package mutating func recover() -> Recovery { queue.recover() }
    /// Cancels a job.
    package mutating func cancel(_ id: String) -> EndingOutcome { queue.cancel(id) }
    /// Deletes a job.
    package mutating func delete(_ id: String) -> EndingOutcome { queue.delete(id) }
    /// Retries a dead job.
    package mutating func retry(_ id: String) -> RetryOutcome { queue.retry(id) }
    /// Cancels waiting jobs.
    package mutating func clear() -> Int { queue.clear() }
    /// Changes settings.
    package mutating func configure(_ change: QueueSettings) throws(BrokerError) { try queue.configure(change) }
    /// The violated invariants.
    package var findings: [Finding] { queue.findings }
    /// The counts and totals.
    package var status: QueueStatus { queue.status }
    /// The sessions.
    package var sessionStatuses: [SessionStatus] { queue.sessionStatuses }
    /// Returns the record of a job.
    package func record(of id: String) -> JobRecord? { queue.record(of: id) }
    /// The sessions that wait for a wake-up.
    package var waitingSessions: [String] { queue.idle }

    /// Returns the messages of events and the wake-ups of the transitions since the last call.
    package mutating func takeNews() -> (events: [[UInt8]], hints: [(session: String, hint: WakeUp)]) {
        let outbox = queue.takeOutbox()
        return (outbox.messages, outbox.hints)
    }
}

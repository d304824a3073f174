/// One queue of the in-memory broker without the broker around it: its transitions, called one after the other at times
/// of the caller's choosing. For checks that make millions of them.
package struct MemoryTransitions: Sendable {
    var queue: MemoryQueue

    /// An empty queue.
    package init(queue name: String) { queue = MemoryQueue(name: name) }

    /// Sets the time at which the next transitions happen, in milliseconds since 1970 UTC.
    package mutating func setTime(_ now: Int64) { queue.now = now }

    /// Pushes jobs.
    package mutating func push(_ jobs: [JobEnvelope]) throws(BrokerError) -> [Receipt] { try queue.push(jobs) }
    /// Registers a session.
    package mutating func register(_ session: Session) throws(BrokerError) { try queue.register(session) }
    /// Reports and claims.
    package mutating func exchange(_ call: Exchange) throws(BrokerError) -> ExchangeReply { try queue.exchange(call) }
    /// Beats for a session.
    package mutating func beat(of session: Session, begun: Token) throws(BrokerError) -> Beat {
        try queue.beat(of: session, begun: begun)
    }
    /// Ends a session.
    package mutating func release(_ session: String) { queue.release(session) }
    /// Puts due jobs in line.
    package mutating func promote() -> Promotion { queue.promote() }
    /// Compares a session's claims with its worker's runs.
    package mutating func reconcile(
        _ session: String,
        call: Int,
        runs: [(id: String, token: Token)]
    ) throws(BrokerError) -> Reconciliation {
        try queue.reconcile(session, call: call, runs: runs)
    }
    /// Takes back what dead sessions held.
    package mutating func recover() -> Recovery { queue.recover() }
    /// Cancels a job.
    package mutating func cancel(_ id: String) -> EndingOutcome { queue.cancel(id) }
    /// Deletes a job.
    package mutating func delete(_ id: String) -> EndingOutcome { queue.delete(id) }
    /// Puts a dead job back in line.
    package mutating func retry(_ id: String) -> RetryOutcome { queue.retry(id) }
    /// Cancels waiting jobs.
    package mutating func clear() -> Int { queue.clear() }
    /// Changes settings.
    package mutating func configure(_ change: QueueSettings) throws(BrokerError) { try queue.configure(change) }
    /// Broken invariants.
    package var findings: [Finding] { queue.findings }
    /// Counts and totals.
    package var status: QueueStatus { queue.status }
    /// The sessions.
    package var sessionStatuses: [SessionStatus] { queue.sessionStatuses }
    /// What is known of a job.
    package func record(of id: String) -> JobRecord? { queue.record(of: id) }
    /// Sessions that wait for a hint.
    package var waitingSessions: [String] { queue.idle }

    /// What the transitions since the last call had to tell: messages of events, and hints for sessions.
    package mutating func takeNews() -> (events: [[UInt8]], hints: [(session: String, hint: WakeUp)]) {
        let outbox = queue.takeOutbox()
        return (outbox.messages, outbox.hints)
    }
}

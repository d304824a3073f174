extension MemoryBroker {
    /// Makes a session known on a queue; its lease begins.
    ///
    /// - Throws: ``BrokerError/Code/refused`` when the id is malformed or another process's, or the lease is not 100 ms
    /// to a
    ///   day.
    public func register(_ session: Session, on queue: String) async throws(BrokerError) {
        try change(queue, creating: true) { queue throws(BrokerError) in try queue.register(session) }
    }

    /// Reports ended runs and claims new jobs in one step; see ``WorkingBroker/exchange(_:on:)``.
    public func exchange(_ exchange: Exchange, on queue: String) async throws(BrokerError) -> ExchangeReply {
        try change(queue) { queue throws(BrokerError) in try queue.exchange(exchange) }
    }

    /// Keeps the session's leases alive from a thread of its own, until it is stopped.
    public func startHeartbeat(
        of session: Session,
        on queues: [String],
        every interval: Duration,
        begun: @escaping @Sendable (_ queue: String) -> Token,
        onBeat: @escaping @Sendable (_ queue: String, _ beat: Result<Beat, BrokerError>) -> Void
    ) -> any Heartbeat {
        let heartbeat = MemoryHeartbeat()
        heartbeat.start(every: interval) { [weak self] in
            for queue in queues {
                guard let answer = self?.beat(of: session, on: queue, begun: begun(queue)) else {
                    return heartbeat.stop()
                }
                onBeat(queue, answer)
            }
        }
        return heartbeat
    }

    /// One beat of a session.
    package func beat(of session: Session, on queue: String, begun: Token) -> Result<Beat, BrokerError> {
        do {
            return .success(
                try change(queue) { queue throws(BrokerError) in try queue.beat(of: session, begun: begun) }
            )
        } catch {
            return .failure(error)
        }
    }

    /// Compares the claims of a session with the runs that its worker knows; see ``WorkingBroker``.
    public func reconcile(
        _ session: Session,
        call: Int,
        runs: [(id: String, token: Token)],
        on queue: String
    ) async throws(BrokerError) -> Reconciliation {
        try change(queue) { queue throws(BrokerError) in try queue.reconcile(session.id, call: call, runs: runs) }
    }

    /// Keeps a running job's note, if its claim still counts.
    public func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool {
        try change(queue) { queue throws(BrokerError) in try queue.take(update, from: session.id) }
    }

    /// What an earlier attempt has left for the next one.
    public func checkpoint(of id: String, on queue: String) async throws(BrokerError) -> [UInt8]? {
        try change(queue) { $0.jobs[id]?.checkpoint }
    }

    /// Takes back the jobs of one session whose lease has ended or, when there is none, jobs past their hard deadline.
    public func recover(on queue: String) async throws(BrokerError) -> Recovery {
        try change(queue) { $0.recover() }
    }

    /// Moves jobs that are due into the line, at most 500 of each kind.
    public func promote(on queue: String) async throws(BrokerError) -> Promotion {
        try change(queue) { $0.promote() }
    }

    /// Ends a session: whatever it still holds goes back to the head of the line, with its attempts unspent.
    public func release(_ session: Session, on queue: String) async throws(BrokerError) {
        try change(queue) { $0.release(session.id) }
    }

    /// Tells when there may be work, or something to stop; from a dispatch queue of the broker's own.
    public func wakeUps(
        for session: Session,
        on queues: [String],
        _ onHint: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        subscribers.wakeUps(for: session.id, on: queues, onHint)
    }
}

extension MemoryBroker {
    /// Registers a session on a queue and starts its lease.
    ///
    /// - Throws: ``BrokerError/Code/refused`` if the id is invalid or belongs to another process, or the lease is
    ///   outside 100 ms to a day.
    public func register(_ session: Session, on queue: String) async throws(BrokerError) {
        try change(queue, creating: true) { queue throws(BrokerError) in try queue.register(session) }
    }

    /// Reports ended runs and claims new jobs in one step; see ``WorkingBroker/exchange(_:on:)``.
    public func exchange(_ exchange: Exchange, on queue: String) async throws(BrokerError) -> ExchangeReply {
        try change(queue) { queue throws(BrokerError) in try queue.exchange(exchange) }
    }

    /// Renews the session's leases from a thread of its own, until the heartbeat is stopped.
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

    /// Sends one beat of a session.
    package func beat(of session: Session, on queue: String, begun: Token) -> Result<Beat, BrokerError> {
        do {
            return .success(
                try change(queue) { queue throws(BrokerError) in try queue.beat(of: session, begun: begun) }
            )
        } catch {
            return .failure(error)
        }
    }

    /// Compares the claims of a session with the runs of its worker; see ``WorkingBroker``.
    public func reconcile(
        _ session: Session,
        call: Int,
        runs: [(id: String, token: Token)],
        on queue: String
    ) async throws(BrokerError) -> Reconciliation {
        try change(queue) { queue throws(BrokerError) in try queue.reconcile(session.id, call: call, runs: runs) }
    }

    /// Stores an update of a running job, if its claim is still valid.
    public func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool {
        try change(queue) { queue throws(BrokerError) in try queue.store(update, from: session.id) }
    }

    /// Returns the checkpoint of an earlier attempt; `nil` if there is none.
    public func checkpoint(of id: String, on queue: String) async throws(BrokerError) -> [UInt8]? {
        try change(queue) { $0.jobs[id]?.checkpoint }
    }

    /// Recovers the jobs of one session whose lease has ended or, if there is none, times out jobs past their hard
    /// deadline.
    public func recover(on queue: String) async throws(BrokerError) -> Recovery {
        try change(queue) { $0.recover() }
    }

    /// Moves due jobs to the ready list, at most 500 of each kind.
    public func promote(on queue: String) async throws(BrokerError) -> Promotion {
        try change(queue) { $0.promote() }
    }

    /// Ends a session and releases its claims: the jobs return to the head of the ready list and spend no attempt.
    public func release(_ session: Session, on queue: String) async throws(BrokerError) {
        try change(queue) { $0.release(session.id) }
    }

    /// Subscribes to wake-ups, which arrive on a dispatch queue of the broker.
    public func wakeUps(
        for session: Session,
        on queues: [String],
        _ onWakeUp: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        subscribers.wakeUps(for: session.id, on: queues, onWakeUp)
    }
}

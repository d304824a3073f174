public import Errand

extension TestBroker {
    /// Registers a session on a queue.
    public func register(_ session: Session, on queue: String) async throws(BrokerError) {
        try await memory.register(session, on: queue)
        add(session)
    }

    /// Reports outcomes and claims as many jobs as the test allows, unless an injected fault prevents it.
    public func exchange(_ exchange: Exchange, on queue: String) async throws(BrokerError) -> ExchangeReply {
        guard lives(exchange.session) else { throw BrokerError(.sessionLost, "this worker has died") }
        let admitted = gate.admit(exchange.wanted)
        var allowed = exchange
        allowed.wanted = admitted
        // Direct dispatch would bypass the gate.
        allowed.acceptsDirectDispatch = false
        guard admitted > 0 || !exchange.reports.isEmpty else { return ExchangeReply(accepted: [], claims: []) }
        let answer: ExchangeReply
        do throws(BrokerError) { answer = try await memory.exchange(allowed, on: queue) } catch {
            gate.note(admitted: admitted, nil, exchange.reports, on: queue)
            throw error
        }
        gate.note(admitted: admitted, answer, exchange.reports, on: queue)
        try fail(allowed, answer)
        return answer
    }

    private func fail(_ exchange: Exchange, _ answer: ExchangeReply) throws(BrokerError) {
        if !answer.claims.isEmpty, takeFault({ if case .workerDiesAfterClaim = $0 { true } else { nil } }) == true {
            remove(exchange.session)
            gate.forget(answer.claims)
            throw BrokerError(.sessionLost, "this worker has died")
        }
        if !exchange.reports.isEmpty, takeFault({ if case .reportAnswerLost = $0 { true } else { nil } }) == true {
            throw BrokerError(.outcomeUnknown, "the reply was lost")
        }
    }

    /// Starts the heartbeat of a live worker.
    public func startHeartbeat(
        of session: Session,
        on queues: [String],
        every interval: Duration,
        begun: @escaping @Sendable (_ queue: String) -> Token,
        onBeat: @escaping @Sendable (_ queue: String, _ beat: Result<Beat, BrokerError>) -> Void
    ) -> any Heartbeat {
        memory.startHeartbeat(of: session, on: queues, every: interval, begun: begun, onBeat: onBeat)
    }

    /// Compares the claims of a session with the runs of its worker.
    public func reconcile(
        _ session: Session,
        call: Int,
        runs: [(id: String, token: Token)],
        on queue: String
    ) async throws(BrokerError) -> Reconciliation {
        try await memory.reconcile(session, call: call, runs: runs, on: queue)
    }

    /// Stores an update of a running job.
    public func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool {
        try await memory.update(update, of: session, on: queue)
    }

    /// Returns the checkpoint of an earlier attempt; `nil` if there is none.
    public func checkpoint(of id: String, on queue: String) async throws(BrokerError) -> [UInt8]? {
        try await memory.checkpoint(of: id, on: queue)
    }

    /// Recovers the jobs of dead workers.
    public func recover(on queue: String) async throws(BrokerError) -> Recovery {
        let recovery = try await memory.recover(on: queue)
        if recovery.recovered > 0 { gate.noteWork(in: queue) }
        return recovery
    }

    /// Promotes due jobs to the ready list.
    public func promote(on queue: String) async throws(BrokerError) -> Promotion {
        let promotion = try await memory.promote(on: queue)
        if promotion.promoted > 0 { gate.noteWork(in: queue) }
        return promotion
    }

    /// Adds runs to the queue's statistics.
    public func record(_ runs: [String: RunStatistics], on queue: String) async throws(BrokerError) {
        try await memory.record(runs, on: queue)
    }

    /// Releases a session. The session of a dead worker ends with its lease instead.
    public func release(_ session: Session, on queue: String) async throws(BrokerError) {
        guard lives(session) else { return }
        try await memory.release(session, on: queue)
        if session.queues.last == queue { remove(session) }
    }

    /// Subscribes to wake-ups: there may be work, or a run to stop.
    public func wakeUps(
        for session: Session,
        on queues: [String],
        _ onWakeUp: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        GatedWakeUps(
            gate: gate,
            number: gate.listen(on: queues, onWakeUp),
            inner: memory.wakeUps(for: session, on: queues, onWakeUp)
        )
    }
}

/// A worker's subscription to the wake-ups of the broker and of the test.
private struct GatedWakeUps: Subscription {
    let gate: ClaimGate
    let number: Int
    let inner: any Subscription

    func cancel() {
        gate.leave(number)
        inner.cancel()
    }
}

import Errand
import ErrandRedis

/// The broker, with a ledger of the outcome of each report, so that the checker knows which ends were accepted.
struct LedgerBroker: WorkingBroker {
    let broker: RedisBroker
    let ledger: LedgerWriter

    func exchange(_ exchange: Exchange, on queue: String) async throws(BrokerError) -> ExchangeReply {
        do throws(BrokerError) {
            let answer = try await broker.exchange(exchange, on: queue)
            ledger.write(exchange.reports, counted: answer.accepted)
            return answer
        } catch {
            // A lost session has no claims any more, so none of its reports counts.
            if error.code == .sessionLost {
                ledger.write(exchange.reports, counted: exchange.reports.map { _ in false })
            }
            throw error
        }
    }

    // MARK: Forwarded calls

    func register(_ session: Session, on queue: String) async throws(BrokerError) {
        try await broker.register(session, on: queue)
    }

    func startHeartbeat(
        of session: Session,
        on queues: [String],
        every interval: Duration,
        begun: @escaping @Sendable (_ queue: String) -> Token,
        onBeat: @escaping @Sendable (_ queue: String, _ beat: Result<Beat, BrokerError>) -> Void
    ) -> any Heartbeat {
        broker.startHeartbeat(of: session, on: queues, every: interval, begun: begun, onBeat: onBeat)
    }

    func reconcile(
        _ session: Session,
        call: Int,
        runs: [(id: String, token: Token)],
        on queue: String
    ) async throws(BrokerError) -> Reconciliation {
        try await broker.reconcile(session, call: call, runs: runs, on: queue)
    }

    func recover(on queue: String) async throws(BrokerError) -> Recovery {
        try await broker.recover(on: queue)
    }

    func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool {
        try await broker.update(update, of: session, on: queue)
    }

    func checkpoint(of id: String, on queue: String) async throws(BrokerError) -> [UInt8]? {
        try await broker.checkpoint(of: id, on: queue)
    }

    func promote(on queue: String) async throws(BrokerError) -> Promotion {
        try await broker.promote(on: queue)
    }

    func record(_ runs: [String: RunStatistics], on queue: String) async throws(BrokerError) {
        try await broker.record(runs, on: queue)
    }

    func release(_ session: Session, on queue: String) async throws(BrokerError) {
        try await broker.release(session, on: queue)
    }

    func wakeUps(
        for session: Session,
        on queues: [String],
        _ onWakeUp: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        broker.wakeUps(for: session, on: queues, onWakeUp)
    }

    func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome {
        try await broker.put(schedule)
    }

    func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules {
        try await broker.dueSchedules(on: queue, skipping: count)
    }

    func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome {
        try await broker.tick(proposal, on: queue)
    }
}

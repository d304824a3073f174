import Errand
import Synchronization

/// The in-memory broker behind an unreliable connection: exchanges fail on request, and heartbeats get the replies that
/// a test provides.
final class TroubledBroker: WorkingBroker {
    private struct State {
        var failure: BrokerError?
        var updateFailure: BrokerError?
        /// The only queue whose exchanges fail; `nil` for all queues.
        var failingQueue: String?
        var failures: [String: Int] = [:]
        /// The queue whose exchanges that claim jobs are executed without a reply.
        var unanswered: String?
        var losesWakeUps = false
        var emptyReplies = 0
        var calls: [String: Int] = [:]
        var callsAtDispatch: [String: Int] = [:]
        var assumedBegun: Token = 0
        var denials = 0
        /// The queue whose calls are held back from the broker.
        var heldQueue: String?
        var heldCalls = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// How sessions ended, in order.
        var ends: [String] = []
        var onBeat: (@Sendable (String, Result<Beat, BrokerError>) -> Void)?
        var beats = 0
    }

    let memory = MemoryBroker()
    private let state = Mutex(State())

    /// The number of failed exchanges of each queue.
    var failures: [String: Int] { state.withLock { $0.failures } }

    /// The number of exchanges of each queue.
    var calls: [String: Int] { state.withLock { $0.calls } }

    /// The number of exchanges of each queue at its latest direct dispatch.
    var callsAtDispatch: [String: Int] { state.withLock { $0.callsAtDispatch } }

    /// The number of calls that withdrew a begun mark.
    var denials: Int { state.withLock { $0.denials } }

    /// The number of heartbeats that sessions have handled completely.
    var beats: Int { state.withLock { $0.beats } }

    /// Makes the exchanges of one queue or of all fail; `nil` ends that.
    func fail(with error: BrokerError?, on queue: String? = nil) {
        state.withLock { state in
            state.failure = error
            state.failingQueue = queue
        }
    }

    /// Makes reports of progress and checkpoints fail.
    func failUpdates(with error: BrokerError) { state.withLock { $0.updateFailure = error } }

    /// Loses the replies to a queue's exchanges; `nil` ends that.
    func loseReplies(of queue: String?) { state.withLock { $0.unanswered = queue } }

    /// Loses wake-ups from now on.
    func loseWakeUps() { state.withLock { $0.losesWakeUps = true } }

    /// Makes this many exchanges find only tombstones.
    func findNothing(times: Int) { state.withLock { $0.emptyReplies = times } }

    /// Passes a reply to the newest session's heartbeat.
    func tell(_ queue: String, _ beat: Result<Beat, BrokerError>) {
        state.withLock { $0.onBeat }?(queue, beat)
    }

    /// Holds back a queue's calls from the broker; `nil` releases them.
    func hold(_ queue: String?) {
        let waiting = state.withLock { state in
            state.heldQueue = queue
            defer { state.waiting = [] }
            return state.waiting
        }
        for call in waiting { call.resume() }
    }

    /// The number of calls that were held back.
    var heldCalls: Int { state.withLock { $0.heldCalls } }

    /// The ends of sessions: `released QUEUE`, and `silent` when a heartbeat was stopped.
    var ends: [String] { state.withLock { $0.ends } }

    private func pass(_ queue: String) async {
        await withCheckedContinuation { call in
            let goesOn = state.withLock { state in
                guard state.heldQueue == queue else { return true }
                state.heldCalls += 1
                state.waiting.append(call)
                return false
            }
            if goesOn { call.resume() }
        }
    }

    func exchange(_ exchange: Exchange, on queue: String) async throws(BrokerError) -> ExchangeReply {
        await pass(queue)
        let failure = state.withLock { state -> BrokerError? in
            state.calls[queue, default: 0] += 1
            guard let failure = state.failure, (state.failingQueue ?? queue) == queue else { return nil }
            state.failures[queue, default: 0] += 1
            return failure
        }
        if let failure { throw failure }
        let findsNothing = state.withLock { state in
            guard state.emptyReplies > 0, exchange.wanted > 0, exchange.reports.isEmpty else { return false }
            state.emptyReplies -= 1
            return true
        }
        if findsNothing { return ExchangeReply(accepted: [], claims: [], hasMore: true) }
        let answer = try await memory.exchange(exchange, on: queue)
        let isLost = state.withLock { state in
            guard state.unanswered == queue, !answer.claims.isEmpty else { return false }
            state.failures[queue, default: 0] += 1
            return true
        }
        if isLost { throw BrokerError(.notReachable, "no answer") }
        state.withLock { state in
            if exchange.begun < state.assumedBegun { state.denials += 1 }
            if exchange.freeSlots > 0, let claim = answer.claims.first { state.assumedBegun = claim.token }
        }
        return answer
    }

    func startHeartbeat(
        of session: Session,
        on queues: [String],
        every interval: Duration,
        begun: @escaping @Sendable (String) -> Token,
        onBeat: @escaping @Sendable (String, Result<Beat, BrokerError>) -> Void
    ) -> any Heartbeat {
        state.withLock { $0.onBeat = onBeat }
        let heartbeat = memory.startHeartbeat(of: session, on: queues, every: interval, begun: begun) {
            [weak self] queue, beat in
            onBeat(queue, beat)
            self?.state.withLock { $0.beats += 1 }
        }
        return ObservedHeartbeat(heartbeat: heartbeat) { [weak self] in
            self?.state.withLock { $0.ends.append("silent") }
        }
    }

    private struct ObservedHeartbeat: Heartbeat {
        let heartbeat: any Heartbeat
        let onStop: @Sendable () -> Void

        func beatNow() { heartbeat.beatNow() }
        func stop() {
            onStop()
            heartbeat.stop()
        }
    }

    // MARK: Forwarded calls

    func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool {
        if let failure = state.withLock({ $0.updateFailure ?? $0.failure }) { throw failure }
        return try await memory.update(update, of: session, on: queue)
    }

    func checkpoint(of id: String, on queue: String) async throws(BrokerError) -> [UInt8]? {
        try await memory.checkpoint(of: id, on: queue)
    }

    func register(_ session: Session, on queue: String) async throws(BrokerError) {
        try await memory.register(session, on: queue)
    }

    func reconcile(
        _ session: Session,
        call: Int,
        runs: [(id: String, token: Token)],
        on queue: String
    ) async throws(BrokerError) -> Reconciliation {
        try await memory.reconcile(session, call: call, runs: runs, on: queue)
    }

    func recover(on queue: String) async throws(BrokerError) -> Recovery { try await memory.recover(on: queue) }

    func promote(on queue: String) async throws(BrokerError) -> Promotion { try await memory.promote(on: queue) }

    func record(_ runs: [String: RunStatistics], on queue: String) async throws(BrokerError) {
        try await memory.record(runs, on: queue)
    }

    func release(_ session: Session, on queue: String) async throws(BrokerError) {
        state.withLock { $0.ends.append("released \(queue)") }
        try await memory.release(session, on: queue)
    }

    func wakeUps(
        for session: Session,
        on queues: [String],
        _ onWakeUp: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        memory.wakeUps(for: session, on: queues) { [weak self] wakeUp in
            let passes = self?.state.withLock { state in
                if case .claimed(let queue, _, _) = wakeUp { state.callsAtDispatch[queue] = state.calls[queue] }
                return !state.losesWakeUps
            }
            if passes == true { onWakeUp(wakeUp) }
        }
    }

    func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome { try await memory.put(schedule) }

    func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules {
        try await memory.dueSchedules(on: queue, skipping: count)
    }

    func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome {
        try await memory.tick(proposal, on: queue)
    }
}

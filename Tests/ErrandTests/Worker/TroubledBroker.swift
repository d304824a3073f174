import Errand
import Synchronization

/// The broker in memory behind a line that can be in trouble: exchanges fail while it is told so, and heartbeats hear what a
/// test wants them to hear.
final class TroubledBroker: WorkingBroker {
    private struct State {
        var failure: BrokerError?
        /// The only queue whose exchanges fail; all of them when `nil`.
        var failingQueue: String?
        var failures: [String: Int] = [:]
        /// The queue whose exchanges are carried out, but not answered.
        var unanswered: String?
        var hintsAreLost = false
        var emptyAnswers = 0
        var calls: [String: Int] = [:]
        var callsWhenHanded: [String: Int] = [:]
        var assumedBegun: Token = 0
        var denials = 0
        /// The calls of this queue wait, before the broker sees them.
        var heldQueue: String?
        var heldCalls = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// What became of sessions, in order.
        var ends: [String] = []
        var onBeat: (@Sendable (String, Result<Beat, BrokerError>) -> Void)?
        var beats = 0
    }

    let memory = MemoryBroker()
    private let state = Mutex(State())

    /// How many exchanges of each queue have failed.
    var failures: [String: Int] { state.withLock { $0.failures } }

    /// How many exchanges each queue has had.
    var calls: [String: Int] { state.withLock { $0.calls } }

    /// How many exchanges each queue had had when the last of its jobs that were handed over was told of.
    var callsWhenHanded: [String: Int] { state.withLock { $0.callsWhenHanded } }

    /// How many calls took back what the broker had to take for begun.
    var denials: Int { state.withLock { $0.denials } }

    /// How many beats sessions have heard to their end.
    var beats: Int { state.withLock { $0.beats } }

    /// Lets exchanges fail, those of one queue or all; `nil` ends that.
    func fail(with error: BrokerError?, on queue: String? = nil) {
        state.withLock { state in
            state.failure = error
            state.failingQueue = queue
        }
    }

    /// Lets the answers to a queue's exchanges be lost on their way; `nil` ends that.
    func loseAnswers(of queue: String?) { state.withLock { $0.unanswered = queue } }

    /// Lets hints be lost from now on.
    func loseHints() { state.withLock { $0.hintsAreLost = true } }

    /// Lets so many exchanges find nothing but places of jobs that left.
    func findNothing(times: Int) { state.withLock { $0.emptyAnswers = times } }

    /// Lets the newest session's heartbeat hear something.
    func tell(_ queue: String, _ beat: Result<Beat, BrokerError>) {
        state.withLock { $0.onBeat }?(queue, beat)
    }

    /// Holds a queue's calls back before the broker sees them; `nil` lets them go.
    func hold(_ queue: String?) {
        let waiting = state.withLock { state in
            state.heldQueue = queue
            defer { state.waiting = [] }
            return state.waiting
        }
        for call in waiting { call.resume() }
    }

    /// How many calls have been held back.
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
            guard state.emptyAnswers > 0, exchange.wanted > 0, exchange.reports.isEmpty else { return false }
            state.emptyAnswers -= 1
            return true
        }
        if findsNothing { return ExchangeReply(accepted: [], claims: [], hasMore: true) }
        let answer = try await memory.exchange(exchange, on: queue)
        let isLost = state.withLock { state in
            guard state.unanswered == queue else { return false }
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
        return ToldHeartbeat(heartbeat: heartbeat) { [weak self] in self?.state.withLock { $0.ends.append("silent") } }
    }

    private struct ToldHeartbeat: Heartbeat {
        let heartbeat: any Heartbeat
        let onStop: @Sendable () -> Void

        func beatNow() { heartbeat.beatNow() }
        func stop() {
            onStop()
            heartbeat.stop()
        }
    }

    // MARK: What goes through

    func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool {
        try await memory.update(update, of: session, on: queue)
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

    func release(_ session: Session, on queue: String) async throws(BrokerError) {
        state.withLock { $0.ends.append("released \(queue)") }
        try await memory.release(session, on: queue)
    }

    func wakeUps(
        for session: Session,
        on queues: [String],
        _ onHint: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        memory.wakeUps(for: session, on: queues) { [weak self] hint in
            let passes = self?.state.withLock { state in
                if case .claimed(let queue, _, _) = hint { state.callsWhenHanded[queue] = state.calls[queue] }
                return !state.hintsAreLost
            }
            if passes == true { onHint(hint) }
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

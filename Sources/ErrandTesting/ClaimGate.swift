import Errand
import Synchronization

/// A gate that lets workers claim only as many jobs as the test allows, and waits for the ends of their runs.
///
/// It counts claims and reports; the broker behind it decides everything else.
final class ClaimGate: Sendable {
    fileprivate struct State {
        /// The number of jobs that may still be claimed.
        var allowed = 0
        /// The claimed jobs whose runs are not reported yet.
        var open: Set<String> = []
        /// The first job whose run was reported since the gate was opened.
        var ended: (id: String, queue: String)?
        /// The queues in which a claim found no job since the last change there.
        var quiet: Set<String> = []
        var listeners: [Int: (queues: [String], onWakeUp: @Sendable (WakeUp) -> Void)] = [:]
        var nextNumber = 0
        /// The number of workers that have started and not ended.
        var workers = 0
        var waiting: [CheckedContinuation<Void, Never>] = []

        var served: Set<String> { Set(listeners.values.flatMap(\.queues)) }
        var isQuiet: Bool { open.isEmpty && quiet.isSuperset(of: served) }

        /// Returns the wake-ups for workers that listen to these queues.
        func wakeUps(of queues: Set<String>) -> [() -> Void] {
            listeners.values.flatMap { listener in
                listener.queues.filter(queues.contains).map { queue in { listener.onWakeUp(.work(queue: queue)) } }
            }
        }
    }

    private let state = Mutex(State())

    /// Counts a worker that starts.
    func workerBegins() { state.withLock { $0.workers += 1 } }

    /// Counts a worker that has ended, for any reason.
    func workerEnds() {
        let waiting = state.withLock { state in
            state.workers -= 1
            if state.workers == 0 { state.open = [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until a worker listens; returns `false` if none runs.
    func awaitWorker() async -> Bool {
        await awaitChange { $0.listeners.isEmpty && $0.workers > 0 }
        return state.withLock { !$0.listeners.isEmpty }
    }

    /// Allows this number of claims and wakes the workers.
    func open(for count: Int) {
        let wakeUps = state.withLock { state in
            state.allowed = count
            state.quiet = []
            state.ended = nil
            return state.wakeUps(of: state.served)
        }
        for wakeUp in wakeUps { wakeUp() }
    }

    /// Allows no more claims.
    func close() { state.withLock { $0.allowed = 0 } }

    /// Returns how many of the wanted jobs may be claimed, and subtracts them from the allowed ones.
    func admit(_ wanted: Int) -> Int {
        state.withLock { state in
            let admitted = min(wanted, state.allowed)
            state.allowed -= admitted
            return admitted
        }
    }

    /// Notes that there may be new work in a queue.
    func noteWork(in queue: String) { _ = state.withLock { $0.quiet.remove(queue) } }

    /// Records the result of a call: the claims admitted and made, and the reported runs.
    func note(admitted: Int, _ answer: ExchangeReply?, _ reports: [OutcomeReport], on queue: String) {
        let claims = answer?.claims ?? []
        let (waiting, wakeUps) = state.withLock { state in
            if answer != nil {
                for report in reports where state.open.remove(report.id) != nil {
                    state.ended = state.ended ?? (report.id, queue)
                }
            }
            state.open.formUnion(claims.map(\.id))
            state.allowed += admitted - claims.count
            if admitted > 0, let answer, claims.isEmpty, !answer.hasDueJobs, !answer.hasMore {
                state.quiet.insert(queue)
            }
            defer { state.waiting = [] }
            // Another queue may have been refused meanwhile, because these claims were reserved.
            let others = admitted > claims.count ? state.served.subtracting(state.quiet) : []
            return (state.waiting, state.wakeUps(of: others))
        }
        for continuation in waiting { continuation.resume() }
        for wakeUp in wakeUps { wakeUp() }
    }

    /// Forgets the claims of a worker that died before it ran them.
    func forget(_ claims: [Claim]) {
        state.withLock { state in
            state.open.subtract(claims.map(\.id))
            state.allowed += claims.count
        }
    }

    /// Waits until a run has ended, or until no job is found and none runs.
    func awaitEnd() async -> (id: String, queue: String)? {
        await awaitChange { $0.ended == nil && !$0.isQuiet }
        return state.withLock(\.ended)
    }

    /// Waits until no job is found and none runs.
    func awaitQuiet() async { await awaitChange { !$0.isQuiet } }

    private func awaitChange(while isSo: @Sendable (State) -> Bool) async {
        while state.withLock({ isSo($0) }) {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard isSo(state) else { return false }
                    state.waiting.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }
}

/// Listeners for wake-ups.
extension ClaimGate {
    func listen(on queues: [String], _ onWakeUp: @escaping @Sendable (WakeUp) -> Void) -> Int {
        let (number, waiting, wakeUps) = state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = (queues, onWakeUp)
            // The new worker has not looked for jobs yet.
            state.quiet.subtract(queues)
            defer { state.waiting = [] }
            return (state.nextNumber, state.waiting, state.allowed > 0 ? state.wakeUps(of: Set(queues)) : [])
        }
        for continuation in waiting { continuation.resume() }
        for wakeUp in wakeUps { wakeUp() }
        return number
    }

    func leave(_ number: Int) { state.withLock { $0.listeners[number] = nil } }
}

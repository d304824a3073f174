import Errand
import Synchronization

/// Lets workers claim as many jobs as the test allows, and tells the test when they have ended.
///
/// It counts what is handed out and what is reported; the broker under it decides everything else.
final class ClaimGate: Sendable {
    fileprivate struct State {
        /// How many jobs may still be claimed.
        var allowed = 0
        /// Claims that are not reported yet.
        var open: Set<String> = []
        /// The job that was reported first since the gate was opened.
        var ended: (id: String, queue: String)?
        /// The queues in which a worker has looked and found nothing since something last happened there.
        var quiet: Set<String> = []
        var listeners: [Int: (queues: [String], onHint: @Sendable (WakeUp) -> Void)] = [:]
        var nextNumber = 0
        /// How many workers were started and have not ended.
        var workers = 0
        var waiting: [CheckedContinuation<Void, Never>] = []

        var served: Set<String> { Set(listeners.values.flatMap(\.queues)) }
        var isQuiet: Bool { open.isEmpty && quiet.isSuperset(of: served) }

        /// What is to be called so that workers look into these queues.
        func wakeUps(of queues: Set<String>) -> [() -> Void] {
            listeners.values.flatMap { listener in
                listener.queues.filter(queues.contains).map { queue in { listener.onHint(.work(queue: queue)) } }
            }
        }
    }

    private let state = Mutex(State())

    /// A worker is started.
    func workerBegins() { state.withLock { $0.workers += 1 } }

    /// A worker has ended, for whatever reason.
    func workerEnds() {
        let waiting = state.withLock { state in
            state.workers -= 1
            if state.workers == 0 { state.open = [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until a worker listens. Answers `false` when there is none.
    func awaitWorker() async -> Bool {
        await awaitChange { $0.listeners.isEmpty && $0.workers > 0 }
        return state.withLock { !$0.listeners.isEmpty }
    }

    /// Allows so many claims, and tells the workers.
    func open(for count: Int) {
        let hints = state.withLock { state in
            state.allowed = count
            state.quiet = []
            state.ended = nil
            return state.wakeUps(of: state.served)
        }
        for hint in hints { hint() }
    }

    /// Allows no more claims.
    func close() { state.withLock { $0.allowed = 0 } }

    /// How many of the wanted jobs may be claimed; they are taken from what is allowed.
    func admit(_ wanted: Int) -> Int {
        state.withLock { state in
            let admitted = min(wanted, state.allowed)
            state.allowed -= admitted
            return admitted
        }
    }

    /// There may be new work in a queue.
    func noteWork(in queue: String) { _ = state.withLock { $0.quiet.remove(queue) } }

    /// Notes what became of a call: how many claims were admitted and made, and what was reported.
    func note(admitted: Int, _ answer: ExchangeReply?, _ reports: [OutcomeReport], on queue: String) {
        let claims = answer?.claims ?? []
        let (waiting, hints) = state.withLock { state in
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
            // Another queue may have been refused meanwhile.
            let others = admitted > claims.count ? state.served.subtracting(state.quiet) : []
            return (state.waiting, state.wakeUps(of: others))
        }
        for continuation in waiting { continuation.resume() }
        for hint in hints { hint() }
    }

    /// Forgets claims whose worker has died: they were no runs.
    func forget(_ claims: [Claim]) {
        state.withLock { state in
            state.open.subtract(claims.map(\.id))
            state.allowed += claims.count
        }
    }

    /// Waits until a job has ended, or nothing was found and nothing runs.
    func awaitEnd() async -> (id: String, queue: String)? {
        await awaitChange { $0.ended == nil && !$0.isQuiet }
        return state.withLock(\.ended)
    }

    /// Waits until nothing was found and nothing runs.
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

/// A worker that listens for hints.
extension ClaimGate {
    func listen(on queues: [String], _ onHint: @escaping @Sendable (WakeUp) -> Void) -> Int {
        let (number, waiting, hints) = state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = (queues, onHint)
            // A worker that has not looked yet.
            state.quiet.subtract(queues)
            defer { state.waiting = [] }
            return (state.nextNumber, state.waiting, state.allowed > 0 ? state.wakeUps(of: Set(queues)) : [])
        }
        for continuation in waiting { continuation.resume() }
        for hint in hints { hint() }
        return number
    }

    func leave(_ number: Int) { state.withLock { $0.listeners[number] = nil } }
}

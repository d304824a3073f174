import Errand
import Synchronization

/// The state of each pushed job that is not verified yet, and the counts of all jobs.
final class DemoLedger: Sendable {
    /// The work of a job.
    enum Task: Sendable, Equatable {
        case checksum(SourceFile)
        case stuck
    }

    /// A job whose end was reported.
    struct Ended: Sendable {
        let id: String
        let task: Task
    }

    struct Counts: Sendable {
        /// Jobs that the broker accepted.
        var accepted = 0
        /// Pushes that were dropped in favour of a job with the same name.
        var dropped = 0
        /// Accepted jobs whose end was reported.
        var ended = 0
        /// Files that changed or were removed meanwhile.
        var skipped = 0
        var lost = 0
        var wrong = 0
    }

    private struct Waiting: Sendable {
        let task: Task
        var isAccepted = false
    }

    private struct State: Sendable {
        var waiting: [String: Waiting] = [:]
        /// The ids in the order of their pushes, including those of ended jobs.
        var order: [String] = []
        var ended: [Ended] = []
        var beingVerified = 0
        var counts = Counts()
        var remarks: [String] = []
        var isPushed = false
        var firstPush: ContinuousClock.Instant?
        var lastEnd: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    var counts: Counts { state.withLock { $0.counts } }
    /// The sentences for the final report: one for each lost, wrong or skipped job, at most a hundred.
    var remarks: [String] { state.withLock { $0.remarks } }
    /// The number of jobs that are not verified yet.
    var unverified: Int { state.withLock { $0.waiting.count + $0.ended.count + $0.beingVerified } }

    /// The time from the first push to the last end.
    var elapsed: Duration {
        state.withLock { state in
            guard let first = state.firstPush, let last = state.lastEnd else { return .zero }
            return last - first
        }
    }

    // MARK: Pushing

    /// Adds jobs before they are pushed, because their end may be reported before their receipt arrives.
    func expect(_ jobs: [(id: String, task: Task)]) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.firstPush = state.firstPush ?? now
            for job in jobs {
                state.waiting[job.id] = Waiting(task: job.task)
                state.order.append(job.id)
            }
        }
    }

    /// Records the receipt of a push.
    func settle(_ id: String, isAccepted: Bool) {
        state.withLock { state in
            if isAccepted {
                state.counts.accepted += 1
                state.waiting[id]?.isAccepted = true
            } else {
                state.counts.dropped += 1
                state.waiting[id] = nil
            }
        }
    }

    /// Records that all jobs have been pushed.
    func notePushed() { state.withLock { $0.isPushed = true } }

    /// Whether all jobs have been pushed.
    var isPushed: Bool { state.withLock { $0.isPushed } }

    // MARK: Endings

    /// Records the end of a job; further calls for the same job have no effect.
    func heardEnd(of id: String) {
        let now = ContinuousClock.now
        state.withLock { state in
            guard let job = state.waiting.removeValue(forKey: id) else { return }
            state.counts.ended += 1
            state.lastEnd = now
            state.ended.append(Ended(id: id, task: job.task))
        }
    }

    /// Returns the accepted jobs without a reported end, oldest first.
    func silent(atMost limit: Int) -> [String] {
        state.withLock { state in
            state.order.removeAll { state.waiting[$0] == nil }
            return Array(state.order.filter { state.waiting[$0]?.isAccepted == true }.prefix(limit))
        }
    }

    // MARK: Verifying

    /// Takes jobs to verify; ``verified(_:)`` must be called for each of them.
    func takeEnded(atMost limit: Int) -> [Ended] {
        state.withLock { state in
            let taken = Array(state.ended.prefix(limit))
            state.ended.removeFirst(taken.count)
            state.beingVerified += taken.count
            return taken
        }
    }

    func verified(_ verdict: DemoVerdict) {
        state.withLock { state in
            state.beingVerified -= 1
            switch verdict {
            case .right: return
            case .skipped: state.counts.skipped += 1
            case .lost: state.counts.lost += 1
            case .wrong: state.counts.wrong += 1
            }
            if let remark = verdict.remark, state.remarks.count < 100 { state.remarks.append(remark) }
        }
    }
}

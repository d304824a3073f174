import Errand
import Synchronization

/// The pushed jobs and their receipts, recorded outside Redis.
final class Accounts: Sendable {
    /// The record of one push.
    struct Entry: Sendable {
        /// The last receipt; `nil` if there is none yet.
        var outcome: Receipt.Outcome?
        /// Not to run before, in milliseconds since 1970.
        var due: Int64
        /// Whether its run should reach its end; jobs that are made to fail should not.
        var ends: Bool
        /// When it was sent for the first time.
        let tried = ContinuousClock.now
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var lostAnswers = 0
        var refusals = 0
    }

    private let state = Mutex(State())

    /// Records jobs that are about to be pushed.
    func tries(_ jobs: [JobEnvelope], ends: Bool) {
        state.withLock { state in
            for job in jobs where state.entries[job.id] == nil {
                state.entries[job.id] = Entry(outcome: nil, due: job.notBefore, ends: ends)
            }
        }
    }

    /// Records receipts, one a job.
    func took(_ receipts: [Receipt], of jobs: [JobEnvelope]) {
        state.withLock { state in
            for (job, receipt) in zip(jobs, receipts) {
                if receipt.outcome == .unknown { state.lostAnswers += 1 }
                // A known receipt stays known: a lost reply to a repetition changes nothing.
                let known = state.entries[job.id]?.outcome
                if known == nil || known == .unknown { state.entries[job.id]?.outcome = receipt.outcome }
            }
        }
    }

    /// Records pushes of other programs: all but the dropped ones must end, not necessarily by running.
    func took(_ outcomes: [String: Receipt.Outcome]) {
        state.withLock { state in
            for (id, outcome) in outcomes { state.entries[id] = Entry(outcome: outcome, due: 0, ends: false) }
        }
    }

    /// Records a job that another program pushed.
    func adopt(_ id: String) {
        state.withLock { state in
            if state.entries[id] == nil { state.entries[id] = Entry(outcome: .accepted, due: 0, ends: true) }
        }
    }

    /// Records that a push was certainly rejected.
    func refused() { state.withLock { $0.refusals += 1 } }

    /// The number of lost replies.
    var lostAnswers: Int { state.withLock(\.lostAnswers) }
    /// The number of rejected calls.
    var refusals: Int { state.withLock(\.refusals) }
    /// The jobs that were first pushed after a moment.
    func tried(after moment: ContinuousClock.Instant) -> Set<String> {
        state.withLock { Set($0.entries.filter { $0.value.tried > moment }.keys) }
    }

    /// Everything that was pushed.
    var entries: [String: Entry] { state.withLock(\.entries) }
    /// The jobs that the broker certainly accepted.
    var accepted: [String] {
        state.withLock { state in
            state.entries.filter { entry in
                switch entry.value.outcome {
                case .accepted, .replaced, .deferred, .exists: true
                case .dropped, .unknown, nil: false
                }
            }.map(\.key)
        }
    }
}

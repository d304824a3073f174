import Errand
import Synchronization

/// What was pushed, and what the broker said to it: the books that are kept outside Redis.
final class Accounts: Sendable {
    /// What is known of one push.
    struct Entry: Sendable {
        /// The last answer; `nil` while none came.
        var outcome: Receipt.Outcome?
        /// Not to run before, in milliseconds since 1970.
        var due: Int64
        /// Whether its run is meant to reach its end; jobs made to fail are not.
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

    /// Notes that jobs are about to be sent.
    func tries(_ jobs: [JobEnvelope], ends: Bool) {
        state.withLock { state in
            for job in jobs where state.entries[job.id] == nil {
                state.entries[job.id] = Entry(outcome: nil, due: job.notBefore, ends: ends)
            }
        }
    }

    /// Notes the answers, one a job.
    func took(_ receipts: [Receipt], of jobs: [JobEnvelope]) {
        state.withLock { state in
            for (job, receipt) in zip(jobs, receipts) {
                if receipt.outcome == .unknown { state.lostAnswers += 1 }
                // An answer that is known stays known: a later lost answer to the same push takes nothing back.
                let known = state.entries[job.id]?.outcome
                if known == nil || known == .unknown { state.entries[job.id]?.outcome = receipt.outcome }
            }
        }
    }

    /// Notes pushes of others: all but those that were dropped are to end somehow, though not by running.
    func took(_ outcomes: [String: Receipt.Outcome]) {
        state.withLock { state in
            for (id, outcome) in outcomes { state.entries[id] = Entry(outcome: outcome, due: 0, ends: false) }
        }
    }

    /// Takes over a job that another program pushed.
    func adopt(_ id: String) {
        state.withLock { state in
            if state.entries[id] == nil { state.entries[id] = Entry(outcome: .accepted, due: 0, ends: true) }
        }
    }

    /// Notes that a push was refused for certain.
    func refused() { state.withLock { $0.refusals += 1 } }

    /// How many answers were lost.
    var lostAnswers: Int { state.withLock(\.lostAnswers) }
    /// How many calls were refused.
    var refusals: Int { state.withLock(\.refusals) }
    /// Those that were sent for the first time after a moment.
    func tried(after moment: ContinuousClock.Instant) -> Set<String> {
        state.withLock { Set($0.entries.filter { $0.value.tried > moment }.keys) }
    }

    /// Everything that was pushed.
    var entries: [String: Entry] { state.withLock(\.entries) }
    /// The jobs that the broker certainly took.
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

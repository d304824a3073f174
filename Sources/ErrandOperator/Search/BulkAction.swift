package import Errand

/// An action of an operator on many jobs at once.
package enum BulkAction: String, Sendable, CaseIterable {
    /// Makes dead, scheduled and retrying jobs ready now.
    case retry
    /// Cancels waiting jobs and requests that running ones stop.
    case cancel
    /// Deletes jobs that wait, are dead or have ended.
    case delete

    /// The label of the button.
    package var title: String {
        switch self {
        case .retry: "Retry"
        case .cancel: "Cancel"
        case .delete: "Delete"
        }
    }

    /// The past participle for reports.
    package var past: String {
        switch self {
        case .retry: "retried"
        case .cancel: "cancelled"
        case .delete: "deleted"
        }
    }

    /// The states of jobs to which the action applies.
    package var states: [JobState] {
        switch self {
        case .retry: [.dead, .scheduled, .retrying]
        case .cancel: [.running, .ready, .scheduled, .retrying, .deferred, .blocked]
        case .delete:
            [
                .ready, .scheduled, .retrying, .deferred, .blocked, .dead, .finished, .cancelled, .replaced, .expired,
                .skipped,
            ]
        }
    }

    /// The states to use if none is named: for `delete` and `retry` only dead jobs.
    package var usualStates: [JobState] { self == .cancel ? states : [.dead] }

    /// The outcome of a bulk action.
    package struct Tally: Sendable, Equatable {
        /// The number of jobs for each outcome: `retried`, `hurried`, `cancelled`, `stopping`, `not_found`…
        package var outcomes: [String: Int] = [:]
        /// The number of jobs on which the action succeeded.
        package var done = 0
        /// The number of jobs on which it did not, because their state has changed or their name is taken.
        package var missed = 0
        /// The number of jobs lost to a broker error: those of the failed call (`not_done`, or `unknown` if its reply
        /// was lost) and those after it (`not_tried`).
        package var left = 0
        /// The queues that could not be changed, with the reasons.
        package var unchanged: [UnreadablePlace] = []
        /// The error that ended the action for all queues.
        package var outage: BrokerError?
        /// The first error of the broker.
        package var failure: BrokerError? { outage ?? unchanged.first?.error }

        /// Makes an empty tally.
        package init() {}

        mutating func count(_ outcome: String, isDone: Bool) {
            outcomes[outcome, default: 0] += 1
            if isDone { done += 1 } else { missed += 1 }
        }

        mutating func fail(_ error: BrokerError, of queue: String) {
            if error.isOfOnePlace {
                unchanged.append(UnreadablePlace(queue: queue, error: error, use: .changed))
            } else {
                outage = error
            }
        }

        mutating func leave(_ outcome: String, _ jobs: Int) {
            guard jobs > 0 else { return }
            outcomes[outcome, default: 0] += jobs
            left += jobs
        }
    }

    /// Returns an outcome of a tally in words.
    package static func words(for outcome: String) -> String {
        outcome == RetryOutcome.hurried.word ? "made ready" : outcome.replacing("_", with: " ")
    }

    /// Returns what became of one job, as a sentence.
    package func sentence(for outcome: String) -> String {
        switch (self, outcome) {
        case (.retry, "hurried"): "It is ready now, before its time."
        case (.retry, "name_taken"): "Not retried: another job has its name."
        case (.retry, "not_dead"): "Not retried: it is neither dead nor waiting for its time."
        case (.cancel, "dead"): "Not cancelled: it is dead; retry or delete it."
        default: "\(outcome.replacing("_", with: " "))."
        }
    }

    /// The number of jobs that a broker handles in one call, so that a failed call leaves as few as possible uncertain.
    private static let portion = 50

    /// Applies the action to every job of a selection, in portions. A queue that fails does not affect the others.
    ///
    /// - Parameter progress: Called after each portion with the number of jobs processed so far.
    /// - Returns: The tally, also if the broker failed in the middle.
    package func run(
        _ selection: JobSelection,
        on broker: any ConsoleBroker,
        progress: (_ through: Int) -> Void = { _ in }
    ) async -> Tally {
        var tally = Tally()
        for (queue, ids) in selection.ids.sorted(by: { $0.key < $1.key }) {
            var rest = ids[...]
            while !rest.isEmpty, tally.outage == nil {
                let part = Array(rest.prefix(Self.portion))
                rest = rest.dropFirst(part.count)
                do throws(BrokerError) { try await run(part, queue, broker, &tally) } catch {
                    tally.fail(error, of: queue)
                    tally.leave(error.leavesUnknown ? "unknown" : "not_done", part.count)
                    break
                }
                progress(tally.done + tally.missed)
            }
            tally.leave("not_tried", rest.count)
        }
        return tally
    }

    private func run(
        _ ids: [String],
        _ queue: String,
        _ broker: any ConsoleBroker,
        _ tally: inout Tally
    ) async throws(BrokerError) {
        switch self {
        case .retry:
            for outcome in try await broker.retry(ids, on: queue) {
                tally.count(outcome.word, isDone: outcome == .retried || outcome == .hurried)
            }
        case .cancel:
            for outcome in try await broker.cancel(ids, on: queue) {
                tally.count(outcome.rawValue, isDone: [.cancelled, .stopping].contains(outcome))
            }
        case .delete:
            for outcome in try await broker.delete(ids, on: queue) {
                tally.count(outcome.rawValue, isDone: outcome == .deleted)
            }
        }
    }
}

extension RetryOutcome {
    /// The outcome in one word, for programs.
    package var word: String {
        switch self {
        case .retried: "retried"
        case .hurried: "hurried"
        case .notDead: "not_dead"
        case .nameTaken: "name_taken"
        case .notFound: "not_found"
        }
    }
}

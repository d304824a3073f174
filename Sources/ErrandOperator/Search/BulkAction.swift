package import Errand

/// What an operator does with many jobs at once.
package enum BulkAction: String, Sendable, CaseIterable {
    /// Puts dead jobs back in line, and jobs that wait for their time in line now.
    case retry
    /// Ends jobs that wait, and tells running ones to stop.
    case cancel
    /// Removes jobs that wait, are dead or have ended.
    case delete

    /// The word on a button.
    package var title: String {
        switch self {
        case .retry: "Retry"
        case .cancel: "Cancel"
        case .delete: "Delete"
        }
    }

    /// The word for what was done.
    package var past: String {
        switch self {
        case .retry: "retried"
        case .cancel: "cancelled"
        case .delete: "deleted"
        }
    }

    /// The states of jobs that it can be done with.
    package var states: [JobState] {
        switch self {
        case .retry: [.dead, .scheduled, .retrying]
        case .cancel: [.running, .ready, .scheduled, .retrying, .deferred]
        case .delete: [.ready, .scheduled, .retrying, .deferred, .dead, .finished, .cancelled, .replaced]
        }
    }

    /// The states that are meant where none is named: of what can be deleted or tried again only what is dead.
    package var usualStates: [JobState] { self == .cancel ? states : [.dead] }

    /// What became of the jobs of a bulk action.
    package struct Tally: Sendable, Equatable {
        /// How often each verdict was given: `retried`, `hurried`, `cancelled`, `stopping`, `not_found`…
        package var verdicts: [String: Int] = [:]
        /// How many it was done with.
        package var done = 0
        /// How many it was not done with: they went on meanwhile, or their name is taken.
        package var missed = 0
        /// How many the broker failed for: those of the failed call, which are `not_done`, or `unknown` where its answer was
        /// lost, and those after it, which were `not_tried`.
        package var left = 0
        /// The queues that could not be changed, and why.
        package var unchanged: [UnreadablePlace] = []
        /// The error that ended it for all queues.
        package var outage: BrokerError?
        /// The first error of the broker.
        package var failure: BrokerError? { outage ?? unchanged.first?.error }

        /// Makes an empty tally.
        package init() {}

        mutating func count(_ verdict: String, isDone: Bool) {
            verdicts[verdict, default: 0] += 1
            if isDone { done += 1 } else { missed += 1 }
        }

        mutating func fail(_ error: BrokerError, of queue: String) {
            if error.isOfOnePlace {
                unchanged.append(UnreadablePlace(queue: queue, error: error, use: .changed))
            } else {
                outage = error
            }
        }

        mutating func leave(_ verdict: String, _ jobs: Int) {
            guard jobs > 0 else { return }
            verdicts[verdict, default: 0] += jobs
            left += jobs
        }
    }

    /// As many as one call of a broker looks at, so that a failed call leaves no more in doubt than need be.
    private static let portion = 50

    /// Does it with every job of a selection, some at a time. A queue that fails does not hold up the others.
    ///
    /// - Parameter progress: called after each portion with the number of jobs that are through.
    /// - Returns: what came of it, also where the broker failed in the middle.
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
            for verdict in try await broker.retry(ids, on: queue) {
                tally.count(verdict.word, isDone: verdict == .retried || verdict == .hurried)
            }
        case .cancel:
            for verdict in try await broker.cancel(ids, on: queue) {
                tally.count(verdict.rawValue, isDone: [.cancelled, .stopping].contains(verdict))
            }
        case .delete:
            for verdict in try await broker.delete(ids, on: queue) {
                tally.count(verdict.rawValue, isDone: verdict == .deleted)
            }
        }
    }
}

extension RetryOutcome {
    /// The verdict in one word, for programs.
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

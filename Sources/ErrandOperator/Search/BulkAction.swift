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
        /// How often each verdict was given: `revived`, `hurried`, `cancelled`, `stopping`, `not_found`…
        package var verdicts: [String: Int] = [:]
        /// How many it was done with.
        package var done = 0
        /// How many it was not done with: they went on meanwhile, or their name is taken.
        package var missed = 0

        /// Makes an empty tally.
        package init() {}

        mutating func count(_ verdict: String, isDone: Bool) {
            verdicts[verdict, default: 0] += 1
            if isDone { done += 1 } else { missed += 1 }
        }
    }

    private static let portion = 500

    /// Does it with every job of a selection, some hundreds at a time.
    ///
    /// - Parameter progress: told after each portion how many jobs are through.
    package func run(
        _ selection: JobSelection,
        on broker: any ConsoleBroker,
        progress: (_ through: Int) -> Void = { _ in }
    ) async throws(BrokerError) -> Tally {
        var tally = Tally()
        for (queue, ids) in selection.ids.sorted(by: { $0.key < $1.key }) {
            for start in stride(from: 0, to: ids.count, by: Self.portion) {
                let part = Array(ids[start..<min(start + Self.portion, ids.count)])
                try await run(part, queue, broker, &tally)
                progress(tally.done + tally.missed)
            }
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
            for verdict in try await broker.revive(ids, on: queue) {
                tally.count(verdict.word, isDone: verdict == .revived || verdict == .hurried)
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

extension ReviveVerdict {
    /// The verdict in one word, for programs.
    package var word: String {
        switch self {
        case .revived: "revived"
        case .hurried: "hurried"
        case .notDead: "not_dead"
        case .nameTaken: "name_taken"
        case .notFound: "not_found"
        }
    }
}

import ErrandOperator
import Foundation

/// A bulk action and its progress.
struct BulkRun: Sendable {
    /// The order of an operator: the action, the user and the jobs.
    struct Order: Sendable {
        let action: BulkAction
        let user: String
        /// The jobs, in words.
        let target: String
        /// The path to return to.
        let back: String
        /// The fields that repeat the confirmation, if there was one.
        let question: FormFields?
    }

    enum Stage: Sendable, Equatable {
        case going
        /// A stop was requested; the current portion is still completed.
        case stopping
        case stopped
        case failed(String)
        case ended
    }

    let order: Order
    /// The start, in milliseconds since 1970 UTC.
    let began = Int64(Date().timeIntervalSince1970 * 1000)
    var stage = Stage.going
    var total = 0
    /// The number of matching jobs that appeared after the question and were left alone.
    var late = 0
    /// Whether the search found all jobs that existed during all of it.
    var isComplete = true
    /// The problems of corrupt queues, in words.
    var problems: [String] = []
    /// Whether nothing was done because there were more jobs than the confirmation stated.
    var exceededCount = false
    private(set) var tally = BulkAction.Tally()

    init(_ order: Order) { self.order = order }

    var isGoing: Bool { stage == .going || stage == .stopping }
    /// The number of jobs processed, whether or not the action applied to them.
    var through: Int { tally.done + tally.missed }

    /// Adds the counts of a portion.
    mutating func add(_ portion: BulkAction.Tally) {
        tally.outcomes.merge(portion.outcomes, uniquingKeysWith: +)
        tally.done += portion.done
        tally.missed += portion.missed
        // While a queue is cleared, newly pushed jobs are cleared, too.
        total = max(total, through)
    }
}

/// The progress in words.
extension BulkRun {
    /// The text for the run's page.
    var words: String {
        switch stage {
        case .going: total == 0 ? "Looking for the jobs." : "\(progress)."
        case .stopping:
            total == 0 ? "Stopping: nothing is changed." : "Stopping after this portion: \(progress)."
        case .stopped:
            total == 0 ? "Stopped as asked, before anything was done." : "Stopped as asked: \(progress) done."
        case .failed(let problem): "It stopped: \(problem)" + (through > 0 ? " (\(progress) were through)" : "")
        case .ended: (total == 0 ? "There were no such jobs." : "Done: \(Self.jobs(through)).") + remarks
        }
    }

    /// The text for the log of actions.
    var outcome: String {
        let counts = "\(tally.done) done, \(tally.missed) not"
        return switch stage {
        case .going, .stopping: "not ended"
        case .stopped: "stopped as asked: \(counts), of \(total)"
        case .failed(let problem): "stopped: \(problem)" + (through > 0 ? "; \(counts), of \(total)" : "")
        case .ended: ([counts] + (late > 0 ? ["\(late) left that came later"] : []) + problems).joined(separator: "; ")
        }
    }

    private var progress: String { "\(through.grouped) of \(total.grouped)" }

    private var remarks: String {
        (late > 0 ? " \(Self.jobs(late)) came into line after the question, and were left alone." : "")
            + (isComplete ? "" : " But \(JobSearch.someMayBeMissing).") + problems.map { " But \($0)." }.joined()
    }

    private static func jobs(_ count: Int) -> String { count.counted("job") }
}

import ErrandOperator
import Foundation

/// Something that is done with many jobs, and how far it is.
struct BulkRun: Sendable {
    /// Who wants what to be done with which jobs.
    struct Order: Sendable {
        let action: BulkAction
        let user: String
        /// The jobs, in words.
        let target: String
        /// Where to go back to.
        let back: String
        /// What asks the question anew, where there was one.
        let question: FormFields?
    }

    enum Stage: Sendable, Equatable {
        case going
        /// Told to stop; the portion that it is at is still done.
        case stopping
        case stopped
        case failed(String)
        case ended
    }

    let order: Order
    /// When it was begun, in milliseconds since 1970 UTC.
    let began = Int64(Date().timeIntervalSince1970 * 1000)
    var stage = Stage.going
    var total = 0
    /// How many came after the question, and so were left alone.
    var late = 0
    /// Whether none was missed that was there all the while.
    var isComplete = true
    /// What it was not done with because a queue is damaged, in words.
    var problems: [String] = []
    /// Whether nothing was done because there were more jobs than the question said.
    var isOutgrown = false
    private(set) var tally = BulkAction.Tally()

    init(_ order: Order) { self.order = order }

    var isGoing: Bool { stage == .going || stage == .stopping }
    /// How many jobs are through, whether or not it was done with them.
    var through: Int { tally.done + tally.missed }

    /// Counts a portion.
    mutating func add(_ portion: BulkAction.Tally) {
        tally.verdicts.merge(portion.verdicts, uniquingKeysWith: +)
        tally.done += portion.done
        tally.missed += portion.missed
        // What comes while a queue is cleared is cleared, too.
        total = max(total, through)
    }
}

/// How far it is, in words.
extension BulkRun {
    /// For its page.
    var words: String {
        switch stage {
        case .going: total == 0 ? "Looking for the jobs." : "\(progress)."
        case .stopping:
            total == 0 ? "Stopping: nothing is done with what it finds." : "Stopping after this portion: \(progress)."
        case .stopped:
            total == 0 ? "Stopped as asked, before anything was done." : "Stopped as asked: \(progress) done."
        case .failed(let problem): "It stopped: \(problem)" + (through > 0 ? " (\(progress) were through)" : "")
        case .ended: (total == 0 ? "There were no such jobs." : "Done: \(Self.jobs(through)).") + remarks
        }
    }

    /// For the log of actions.
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

import Errand
import ErrandOperator
import ErrandText

/// The values of a job in the table of a workflow's jobs, and its texts in the graph.
struct WorkflowJobRow {
    /// A job may come after any number of others.
    private static let shownKeys = 8
    private static let shownOfLine = 300
    private static let shownOfError = 4000

    let job: WorkflowView.Job
    /// The number of jobs that it comes after and that were not read.
    var unread = 0

    /// The path of the job's page.
    var place: String {
        "/queues/\(FormFields.encode(job.member.queue))/jobs/\(FormFields.encode(job.member.id))"
    }

    /// What it comes after or waits for, for the title of its place in the graph; empty if there is nothing.
    var title: String {
        if !job.blockers.isEmpty { return "; waits for \(waits)" }
        return job.member.needs.isEmpty ? "" : "; after \(after)"
    }

    /// Returns the values for the template.
    ///
    /// - Parameter home: The workflow's home queue; another queue is shown.
    func values(home: String) -> [String: Any] {
        let (member, attempt) = (job.member, job.summary?.attempt)
        return [
            "key": member.key, "place": place, "state": member.state.rawValue,
            "queues": member.queue == home ? [] : [["queue": member.queue]],
            "after": after, "waits": waits, "isHeld": job.blockers.contains { $0.state == .dead },
            "attempts": attempt.map { $0 > 0 ? "\($0)" : "" } ?? "",
            "errors": (job.summary?.error).map { [Self.error($0)] } ?? [],
        ]
    }

    private var after: String {
        Self.words(job.member.needs) { need in
            need.condition == .success ? need.key : "\(need.key) (\(need.condition.words))"
        }
    }

    private var waits: String {
        let known = Self.words(job.blockers) { $0.state == .dead ? "\($0.key) (dead)" : $0.key }
        guard job.member.state == .blocked, unread > 0 else { return known }
        // Their states are not known here; some of them may have ended.
        let others = "\(unread.counted("job")) on other pages may be missing here"
        return known.isEmpty ? others : "\(known); \(others)"
    }

    private static func words<Item>(_ items: [Item], _ word: (Item) -> String) -> String {
        let more = items.count - shownKeys
        return items.prefix(shownKeys).map(word).joined(separator: ", ")
            + (more > 0 ? " and \(more.grouped) more" : "")
    }

    private static func error(_ error: String) -> [String: Any] {
        let line = error.split(whereSeparator: \.isNewline).first.map(String.init) ?? error
        return ["line": line.shortened(to: shownOfLine), "text": error.shortened(to: shownOfError)]
    }
}

extension WorkflowCondition {
    /// The condition for people.
    fileprivate var words: String { rawValue.replacing("_", with: " ") }
}

import Errand
import ErrandOperator
import ErrandText
import Foundation

/// The values of workflows for their templates.
struct WorkflowViews {
    private static let shownOfName = 300

    let moments: MomentView

    /// Returns the values of a workflow in a list.
    func row(_ workflow: WorkflowRecord) -> [String: Any] {
        [
            "id": workflow.id.description, "name": Self.name(of: workflow), "state": workflow.state.rawValue,
            "ended": Self.progress(of: workflow), "dead": workflow.dead.grouped, "hasDead": workflow.dead > 0,
            "round": workflow.round.grouped,
            "pushes": [moments.relative(workflow.pushedAt, "pushed")],
            "ends": workflow.endedAt.map { [moments.relative($0, "ended")] } ?? [],
        ]
    }

    /// Returns the facts at the top of a workflow's page.
    func facts(_ workflow: WorkflowRecord) -> [[String: Any]] {
        let texts: [(String, String?, Bool)] = [
            ("Jobs ended", Self.progress(of: workflow), false),
            ("Dead", workflow.dead > 0 ? workflow.dead.grouped : nil, true),
            ("Round", workflow.round.grouped, false),
            ("When a job is dead", Self.words(for: workflow.onDead), false),
        ]
        let times: [(String, Int64?)] = [("Pushed", workflow.pushedAt), ("Ended", workflow.endedAt)]
        return texts.compactMap { title, value, isBad in
            value.map { ["title": title, "value": $0, "isBad": isBad, "moments": [[String: Any]]()] }
        }
            + times.compactMap { title, time in
                time.map { ["title": title, "value": "", "isBad": false, "moments": [moments.exact($0)]] }
            }
    }

    /// Returns the name of a workflow; a dash for one that would be invisible.
    static func name(of workflow: WorkflowRecord) -> String {
        let name = workflow.name.trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? "–" : name.shortened(to: shownOfName)
    }

    /// Returns how many jobs have ended, such as `3 of 8`.
    private static func progress(of workflow: WorkflowRecord) -> String {
        let ended = workflow.count.subtractingReportingOverflow(workflow.open).partialValue
        return "\(ended.grouped) of \(workflow.count.grouped)"
    }

    private static func words(for policy: DeadMemberPolicy) -> String {
        switch policy {
        case .hold: "jobs after it wait (hold)"
        case .cancelRest: "the others are cancelled (cancel_rest)"
        case .ignore: "it counts as finished (ignore)"
        }
    }
}

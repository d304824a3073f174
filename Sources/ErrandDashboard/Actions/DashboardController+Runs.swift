import Errand
import ErrandOperator

/// Past and present bulk actions.
extension DashboardController {
    /// Starts a bulk action in the background.
    ///
    /// - Parameters:
    ///   - target: The jobs, in words.
    ///   - back: The path to return to.
    ///   - again: The fields that repeat the confirmation, if there was one.
    /// - Returns: The path of the run's page.
    func start(
        _ action: BulkAction,
        _ target: String,
        _ pageRequest: PageRequest,
        _ jobs: BulkRuns.Jobs,
        back: String,
        again: FormFields? = nil
    ) throws -> String {
        let (actions, user) = (dashboard.actions, pageRequest.access.user)
        let order = BulkRun.Order(action: action, user: user, target: target, back: back, question: again)
        let run = try dashboard.runs.start(order, with: jobs, on: broker) { outcome in
            actions.note(user, action.rawValue, target, outcome)
        }
        return "/runs/\(run)"
    }

    private static let forgotten = PageProblem.notFound(
        "this action does not run any more, and how far it came is not known: the dashboard keeps the last ones since its start"
    )

    /// Stops a run and returns the path of its page, which shows how far it came.
    func stopRun(_ id: String?, _ pageRequest: PageRequest) throws -> String {
        guard let id, let run = dashboard.runs.stop(id) else { throw Self.forgotten }
        let target = "\(run.order.action.rawValue) \(run.order.target)"
        note(pageRequest, "stop", target, run.isGoing ? "told to stop" : "it had ended")
        return "/runs/\(id)"
    }

    func run(_ id: String?) throws -> Page {
        guard let id, let run = dashboard.runs.run(id) else { throw Self.forgotten }
        let outcomes = run.tally.outcomes.sorted { $0.key < $1.key }.map { outcome, count in
            ["title": outcome.replacing("_", with: " "), "value": count.grouped]
        }
        let order = run.order
        var content: [String: Any] = [
            "id": id, "about": order.target + (order.user.isEmpty ? "" : ", by \(order.user)"), "words": run.words,
            "isGoing": run.isGoing, "canStop": run.stage == .going, "total": max(run.total, 1),
            "through": run.through, "outcomes": outcomes, "back": base + order.back,
        ]
        if run.exceededCount, let question = order.question {
            let hidden = question.pairs.map { ["key": $0.key, "value": $0.value] }
            content["again"] = ["hidden": hidden] as [String: Any]
        }
        return Page(heading: "\(order.action.title) jobs", template: "run", content: content)
    }

    func actionsPage() -> Page {
        let runs = dashboard.runs.all
        let actions = dashboard.actions.latest.map { entry in
            [
                "time": Timestamp.text(entry.time), "who": entry.user, "what": entry.action,
                "target": JobPlace.linked(entry.target, entry.jobs),
                "outcome": JobPlace.linked(entry.outcome, entry.jobs),
            ] as [String: Any]
        }
        let content: [String: Any] = [
            "actions": actions, "runs": runs.map { Self.row($0.id, $0.run) }, "hasRuns": !runs.isEmpty,
            "isAnyGoing": runs.contains { $0.run.isGoing },
        ]
        return Page(heading: "Actions", template: "actions", content: content)
    }

    private static func row(_ id: String, _ run: BulkRun) -> [String: Any] {
        [
            "id": id, "time": Timestamp.text(run.began), "who": run.order.user, "what": run.order.action.rawValue,
            "target": run.order.target, "words": run.words,
        ]
    }
}

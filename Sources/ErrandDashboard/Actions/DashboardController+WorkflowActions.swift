import Errand
import ErrandOperator
import Hummingbird

/// Actions on a workflow.
extension DashboardController {
    /// An action on a workflow.
    private enum WorkflowAction: String {
        case cancel
        case retry
        case delete
    }

    /// Adds the routes that change a workflow.
    static func addWorkflowActions<Context: RequestContext>(to routes: DashboardRoutes<Context>) {
        routes.post("workflows/:workflow/:way") { controller, request, context in
            await controller.act(request) { pageRequest in
                let id = try controller.workflowID(context.parameters.get("workflow"))
                return try await controller.steer(id, context.parameters.get("way") ?? "", pageRequest)
            }
        }
    }

    /// Cancels, retries or deletes a workflow, and returns the path of the page to show.
    private func steer(_ id: WorkflowID, _ way: String, _ pageRequest: PageRequest) async throws -> String {
        guard let action = WorkflowAction(rawValue: way) else {
            throw PageProblem.notFound("a workflow has no such action")
        }
        let change = try await change(id, action)
        guard change != .notFound else { throw missing(id) }
        let outcome = Self.words(for: change, after: action)
        let target = JobPlace(id)
        note(pageRequest, "\(way) workflow", target.words, outcome, about: [target])
        let isGone = if case .changed = change { action == .delete } else { false }
        return place(isGone ? "/workflows" : target.path, "\(id): \(outcome).")
    }

    private func change(_ id: WorkflowID, _ action: WorkflowAction) async throws(BrokerError) -> WorkflowChange {
        switch action {
        case .cancel: try await broker.cancel(id)
        case .retry: try await broker.retry(id)
        case .delete: try await broker.delete(id)
        }
    }

    private static func words(for change: WorkflowChange, after action: WorkflowAction) -> String {
        switch (change, action) {
        case (.changed(let jobs), .cancel): "\(jobs.counted("job")) cancelled or asked to stop"
        case (.changed(let jobs), .retry): "\(jobs.counted("job")) retried"
        case (.changed, .delete): "deleted"
        case (.running(let jobs), _):
            "not deleted, because \(jobs.counted("job")) of it \(jobs == 1 ? "runs" : "run"); cancel it first"
        case (.nothingToDo, .cancel): "not cancelled, because it has ended already"
        case (.nothingToDo, .retry): "nothing retried, because no dead job holds it up, or others have their names"
        case (.nothingToDo, .delete): "nothing deleted"
        case (.notFound, _): "not found"
        }
    }
}

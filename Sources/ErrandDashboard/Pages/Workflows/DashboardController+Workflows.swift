import Errand
import ErrandOperator
import Foundation
import Hummingbird

extension DashboardController {
    /// Adds the routes of the pages about workflows.
    static func addWorkflowPages<Context: RequestContext>(to routes: DashboardRoutes<Context>) {
        routes.get("workflows") { controller, request, _ in
            await controller.show(request) { pageRequest in try await controller.workflows(pageRequest) }
        }
        routes.get("workflows/:workflow") { controller, request, context in
            await controller.show(request) { pageRequest in
                let id = try controller.workflowID(context.parameters.get("workflow"))
                return try await controller.workflow(id, pageRequest)
            }
        }
    }

    /// Returns the id of a workflow from a path; some programs encode the colon.
    func workflowID(_ text: String?) throws -> WorkflowID {
        guard let id = text?.removingPercentEncoding.flatMap({ WorkflowID($0) }) else {
            throw PageProblem.notFound(
                "that is no workflow's id: it is a queue, a colon, and 16 letters and digits, such as "
                    + "images:4fJ0aQ9bX2cD7eHk"
            )
        }
        return id
    }

    /// The problem of a workflow that the broker does not have.
    func missing(_ id: WorkflowID) -> PageProblem {
        .notFound("there is no workflow \(id): it was deleted, or it ended more than a day ago")
    }

    /// Makes a page of the workflows of one queue or of all.
    func workflows(_ pageRequest: PageRequest) async throws -> Page {
        let queue = try pageRequest.query["queue"].map { try queueName($0) }
        if let queue { try await checkExists(queue) }
        guard let positions = WorkflowPositions(pageRequest.query["from"] ?? "") else {
            throw PageProblem.noSuchPosition
        }
        let queues = if let queue { [queue] } else { try await dashboard.queues.names() }
        let list = try await WorkflowList(of: queues, from: positions, on: broker)
        let views = WorkflowViews(moments: MomentView())
        var content: [String: Any] = [
            "workflows": list.workflows.map(views.row), "queueChoices": try await queueChoices(queue ?? ""),
        ]
        if let next = list.next {
            let fields = FormFields((queue.map { [("queue", $0)] } ?? []) + [("from", next.text)])
            content["more"] = "\(base)/workflows?\(fields.query)"
        }
        return Page(
            heading: queue.map { "Workflows of \($0)" } ?? "Workflows",
            template: "workflows",
            content: content,
            unreadable: list.unreadable
        )
    }

    /// Makes the page of a workflow.
    func workflow(_ id: WorkflowID, _ pageRequest: PageRequest) async throws -> Page {
        let first = try pageRequest.query.number("from") ?? 0
        guard (0...WorkflowLimits.members).contains(first) else {
            throw PageProblem.noSuchPosition
        }
        guard let record = try await broker.workflow(id) else { throw missing(id) }
        let jobs = try await WorkflowJobs(of: record, from: first, on: broker)
        var content: [String: Any] = [
            "id": id.description, "queue": id.queue, "state": record.state.rawValue,
            "facts": WorkflowViews(moments: MomentView()).facts(record), "interval": Self.interval(of: record),
            "isUnfinished": record.endedAt == nil, "hasDead": record.dead > 0,
            "jobs": jobs.rows, "extent": jobs.extent,
        ]
        if let reason = jobs.reasonForNoGraph {
            content["noGraph"] = reason
        } else {
            let drawing = WorkflowDrawing(jobs.view.jobs, base: base)
            let hasConditions = drawing.layout.edges.contains { $0.condition != .success }
            content["graphs"] = [["svg": drawing.svg, "hasConditions": hasConditions] as [String: Any]]
        }
        if let next = jobs.next { content["more"] = "?from=\(next)" }
        return Page(heading: "Workflow \(WorkflowViews.name(of: record))", template: "workflow", content: content)
    }

    /// Returns the time between two refreshes in milliseconds: longer for a large page, and for a workflow that changes
    /// only by hand.
    private static func interval(of workflow: WorkflowRecord) -> Int {
        if workflow.endedAt != nil { return 10_000 }
        return workflow.count > 200 ? 5000 : 2000
    }
}

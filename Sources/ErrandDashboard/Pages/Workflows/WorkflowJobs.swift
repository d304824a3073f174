import Errand
import ErrandOperator

/// The jobs of a workflow that its page shows.
struct WorkflowJobs: Sendable {
    /// The number of jobs on a page of the table.
    static let aPage = 500

    /// All jobs in the order of their numbers; only those of the table if the workflow has too many to draw.
    let view: WorkflowView
    /// The jobs of the table. Those that are dead or wait for a retry have their attempts and errors.
    let listed: [WorkflowView.Job]
    /// The place of the first of them among all jobs, from 0.
    let first: Int

    private var isWhole: Bool { view.jobs.count >= view.record.count }

    /// Reads the jobs of a workflow.
    ///
    /// - Parameter first: The place of the first job of the table among all jobs, from 0.
    init(of workflow: WorkflowRecord, from first: Int, on broker: any Broker) async throws(BrokerError) {
        self.first = first
        if workflow.count <= WorkflowLayout.mostJobs, let view = try await WorkflowView(of: workflow.id, on: broker) {
            self.view = view
            listed = try await Self.lookedUp(Array(view.layers.dropFirst(first).prefix(Self.aPage)), on: broker)
        } else {
            let members = try await broker.members(of: workflow.id, from: first, count: Self.aPage)
            view = WorkflowView(workflow, members)
            listed = try await Self.lookedUp(view.jobs, on: broker)
        }
    }

    /// Adds the attempts and errors of jobs that are dead or wait for a retry. Those of others do not matter here.
    private static func lookedUp(
        _ jobs: [WorkflowView.Job],
        on broker: any Broker
    ) async throws(BrokerError) -> [WorkflowView.Job] {
        let troubled = try await jobs.filter { [.dead, .retrying].contains($0.member.state) }.lookedUp(on: broker)
        let found = Dictionary(troubled.map { ($0.member.key, $0) }) { first, _ in first }
        return jobs.map { found[$0.member.key] ?? $0 }
    }

    /// The place at which the next page of the table begins; `nil` after the last one.
    var next: Int? { first + listed.count < view.record.count && !listed.isEmpty ? first + listed.count : nil }

    /// The rows of the table.
    var rows: [[String: Any]] {
        let known = Set(view.jobs.map(\.member.key))
        return listed.map { job in
            let unread = isWhole ? 0 : job.member.needs.count { !known.contains($0.key) }
            return WorkflowJobRow(job: job, unread: unread).values(home: view.record.id.queue)
        }
    }

    /// Which jobs the table has, if it has not all; empty otherwise.
    var extent: String {
        guard listed.count < view.record.count, !listed.isEmpty else { return "" }
        let order = isWhole ? "in the order of the graph" : "in the order of the push"
        let numbers = "\((first + 1).grouped) to \((first + listed.count).grouped)"
        return "Jobs \(numbers) of \(view.record.count.grouped), \(order)."
    }

    /// Why there is no graph; `nil` if there is one.
    var reasonForNoGraph: String? {
        if !isWhole {
            return "The graph is drawn for at most \(WorkflowLayout.mostJobs.grouped) jobs; "
                + "this workflow has \(view.record.count.grouped)."
        }
        let edges = view.jobs.reduce(0) { $0 + $1.member.needs.count }
        guard edges > WorkflowLayout.mostEdges else { return view.jobs.isEmpty ? "There are no jobs." : nil }
        return "The graph is drawn with at most \(WorkflowLayout.mostEdges.grouped) edges; "
            + "this one has \(edges.grouped)."
    }
}

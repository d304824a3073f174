import Errand
import ErrandOperator

/// The workflow that a job is of.
struct JobWorkflow: Sendable {
    /// The workflow.
    let id: WorkflowID
    /// The job's key within it; `nil` if it is not known any more.
    let key: String?

    /// Finds the workflow of a job; `nil` if it is of none.
    ///
    /// The broker does not keep the description of a job that has ended. But the id of such a job begins with that of
    /// its workflow, unless a running job has added it, and most jobs are in the home queue.
    init?(of job: JobSummary, on broker: any WorkflowBroker) async {
        if let membership = job.stored?.description.workflow {
            (id, key) = (membership.id, membership.key)
            return
        }
        let parts = job.record.id.split(separator: "-", omittingEmptySubsequences: false)
        guard job.stored == nil, parts.count == 2, Int(parts[1]) != nil,
            let id = WorkflowID("\(job.queue):\(parts[0])"),
            // Without this link, the page is still complete.
            let known = try? await broker.workflow(id), known.id == id
        else { return nil }
        (self.id, key) = (id, nil)
    }

    /// The workflow, and the job's place in it, for people.
    var words: String { key.map { "\($0) of \(id)" } ?? id.description }
}

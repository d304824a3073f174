import Errand
import Foundation

/// The facts of a job that its command or web server receives.
struct JobFacts: Sendable {
    /// The job's id.
    var id: String
    /// The operation's name.
    var operation: String
    /// The job's name, if it has one.
    var name: String?
    /// The queue of the job.
    var queue = "default"
    /// The number of this attempt, from 1.
    var attempt = 1
    /// The fencing token of the claim.
    var token: Token = 0
    /// The time at which the run is stopped, in milliseconds since 1970 UTC.
    var deadline: Int64?
    /// The arguments.
    var arguments = JSONText.emptyObject
    /// The trace context of the job, if it has one.
    var trace: TraceContext?
    /// The workflow of the job and the job's key, also of a callback; `nil` for a job of no workflow.
    var workflow: WorkflowMembership?
    /// The path of a file with the results of the jobs that it comes after, for a command of a workflow's job.
    var results: String?

    /// The names and texts for an environment or a request.
    var named: [(key: String, value: String)] {
        let facts: [(key: String, value: String?)] = [
            ("JOB_ID", id), ("OPERATION", operation), ("NAME", name ?? ""), ("QUEUE", queue),
            ("ATTEMPT", String(attempt)), ("TOKEN", String(token)), ("DEADLINE_MS", deadline.map { String($0) }),
            ("WORKFLOW", workflow?.id.description), ("WORKFLOW_KEY", workflow?.key), ("RESULTS", results),
        ]
        return facts.compactMap { fact in fact.value.map { (fact.key, $0) } }
    }
}

extension JobFacts {
    /// Returns the facts of a running job.
    init(_ job: JobContext) {
        let left = job.deadline - ContinuousClock.now
        self.init(
            id: job.id,
            operation: job.operation,
            name: job.name,
            queue: job.queue,
            attempt: job.attempt,
            token: job.token,
            deadline: Int64((Date().timeIntervalSince1970 + left / .seconds(1)) * 1000),
            arguments: job.arguments,
            trace: TraceContext(fields: job.meta),
            workflow: job.workflow
        )
    }
}

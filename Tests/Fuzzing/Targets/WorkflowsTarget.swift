import Errand
import ErrandCatalogue

/// What must hold of a workflow, as a file of JSON or YAML brings it.
@Sendable func checkWorkflows(_ input: [UInt8]) throws(Violation) {
    do { try checkRules(try WorkflowFile.parse(input, source: "flow")) } catch let violation as Violation {
        throw violation
    } catch { try requireDecent("\(error)") }
    let workflow: WorkflowDescription
    do { workflow = try WorkflowDescription(json: input) } catch { return try requireDecent("\(error)") }
    try checkRules(workflow)
}

private func checkRules(_ workflow: WorkflowDescription) throws(Violation) {
    try require((1...1024).contains(workflow.name.utf8.count), "a name of wrong length")
    try require(isToken(workflow.queue), "the queue \(workflow.queue.debugDescription)")
    try require((1...100_000).contains(workflow.jobs.count), "\(workflow.jobs.count) jobs")
    let keys = Set(workflow.jobs.map(\.key))
    try require(keys.count == workflow.jobs.count, "two jobs of one key")
    for job in workflow.jobs {
        try requireRules(job.description)
        try require(job.description.id == nil && job.description.workflow == nil, "a job that exists")
        try require(keys.isSuperset(of: job.after) && !job.after.contains(job.key), "a need that no job meets")
    }
    try checkPlan(of: workflow)
}

/// A completed job may be too large or lack a window, which is an error; otherwise the order is one that can run.
private func checkPlan(of workflow: WorkflowDescription) throws(Violation) {
    let plan: WorkflowPlan
    do { plan = try workflow.makePlan(token: "4fJ0aQ9bX2cD7eHk") } catch { return try requireDecent("\(error)") }
    try require(plan.members.map(\.number) == Array(0..<workflow.jobs.count), "numbers with gaps")
    let after = Dictionary(workflow.jobs.map { ($0.key, $0.after) }) { first, _ in first }
    for member in plan.members {
        try require(member.needs.allSatisfy { $0.number < member.number }, "a job before one that it comes after")
        let needs = Set(member.needs.map { plan.members[$0.number].key })
        try require(needs == Set(after[member.key] ?? []), "other needs than those that were written")
        let stored = try require("a member cannot be read") {
            try JobEnvelope.read(stored: member.job.stored(readySince: 1))
        }
        try require(stored.description.workflow?.key == member.key, "a member of another key")
    }
}

import Errand

extension Command {
    /// Returns the command for another queue. Workflows and their jobs name theirs; other commands do not.
    func on(_ queue: String) -> Command {
        switch self {
        case .begin(let header):
            .begin(
                WorkflowHeader(
                    id: WorkflowID(queue: queue, token: header.id.token),
                    name: header.name,
                    policy: header.policy,
                    onDead: header.onDead,
                    onSuccess: header.onSuccess?.with(queue: queue),
                    onFailure: header.onFailure?.with(queue: queue)
                )
            )
        case .add(let members, let token, let claim):
            .add(
                members.map {
                    WorkflowMember(job: $0.job.with(queue: queue), number: $0.number, key: $0.key, needs: $0.needs)
                },
                to: token,
                by: claim.map { WorkflowClaim(id: $0.id, queue: queue, token: $0.token, session: $0.session) }
            )
        default: self
        }
    }

    /// Whether a producer could send it: jobs of a workflow have ids of their own, and come after jobs that it has.
    /// Histories that are shrunk leave out what made it so; a promotion takes its place then.
    func isPossible(for queue: MemoryQueue) -> Bool {
        guard case .add(let members, let token, _) = self, let workflow = queue.workflows.workflows[token] else {
            return true
        }
        var known = workflow.members.count
        for member in members {
            if workflow.numbers[member.job.id] == nil {
                guard queue.jobs[member.job.id] == nil else { return false }
                known += 1
            }
            guard member.needs.allSatisfy({ $0.isAdded || $0.number < known - 1 || $0.number < workflow.members.count })
            else { return false }
        }
        return true
    }
}

import Errand

/// Steps of workflows: their pushes, portion by portion, jobs that running jobs add, and their cancellation.
extension HistoryMaker {
    /// A step of a workflow; `nil` if there are no ids left for its jobs.
    mutating func workflow() throws -> Command? {
        if numbers.chance(10), let again = lastOfWorkflow, again.isPossible(for: queue) { return again }
        let known = queue.workflows.workflows
        let unsealed = known.filter { $0.value.state == nil }.keys.sorted()
        let running = known.filter { $0.value.state != nil && $0.value.ended == nil }.keys.sorted()
        if numbers.chance(12), let token = running.randomElement(using: &numbers) { return .stop(token) }
        if numbers.chance(40), let added = try additionOfRunning() { return added }
        guard let token = unsealed.randomElement(using: &numbers) else { return try beginning() }
        if numbers.chance(30), known[token]?.members.isEmpty == false {
            lastOfWorkflow = .seal(token)
        } else {
            lastOfWorkflow = try addition(to: token)
        }
        return lastOfWorkflow
    }

    private mutating func beginning() throws -> Command? {
        let free = Universe.workflows.filter { queue.workflows.workflows[$0] == nil }
        guard let token = free.first else { return nil }
        let header = WorkflowHeader(
            id: WorkflowID(queue: "q", token: token),
            name: Universe.workflowNames[numbers.below(2)],
            policy: [.ignore, .drop, .replace][numbers.below(3)],
            onDead: DeadMemberPolicy.allCases[numbers.below(3)],
            onSuccess: try callback("s\(token.suffix(1))"),
            onFailure: try callback("f\(token.suffix(1))")
        )
        lastOfWorkflow = .begin(header)
        return lastOfWorkflow
    }

    /// Ids of callbacks are none that other jobs have.
    private mutating func callback(_ id: String) throws -> JobEnvelope? {
        numbers.chance(40) ? try Push(id: id).envelope() : nil
    }

    /// The ids that no job has, and that no workflow has had.
    private func freeIDs(besides taken: [String]) -> [String] {
        let known = queue.workflows.workflows.values
        return universe.ids.filter { id in
            queue.jobs[id] == nil && queue.ended.ending(of: id, now: now) == nil && !taken.contains(id)
                && !known.contains { $0.numbers[id] != nil }
        }
    }

    private mutating func addition(to token: String, by claim: WorkflowClaim? = nil) throws -> Command? {
        guard let workflow = queue.workflows.workflows[token] else { return nil }
        var members: [WorkflowMember] = []
        for index in 0...numbers.below(3) {
            guard let id = freeIDs(besides: members.map(\.job.id)).randomElement(using: &numbers) else { break }
            let number = claim == nil ? workflow.members.count + index : index
            let earlier = needs(workflow.members.count, added: index, isByClaim: claim != nil)
            members.append(WorkflowMember(job: try oneJob(id), number: number, key: "key-\(id)", needs: earlier))
        }
        return members.isEmpty ? nil : .add(members, to: token, by: claim)
    }

    /// Some jobs that the workflow has, or that are added before in the same call.
    private mutating func needs(_ count: Int, added: Int, isByClaim: Bool) -> [WorkflowNeed] {
        let condition = WorkflowCondition.allCases[numbers.below(3)]
        let all =
            (0..<count + (isByClaim ? 0 : added)).map { WorkflowNeed(number: $0, condition: condition) }
            + (isByClaim ? (0..<added).map { WorkflowNeed(number: $0, isAdded: true, condition: condition) } : [])
        return all.filter { _ in numbers.chance(45) }
    }

    /// Jobs that a running job adds to its workflow, sometimes with a claim that is over.
    private mutating func additionOfRunning() throws -> Command? {
        let claims = queue.sessions.sorted { $0.key < $1.key }.flatMap { session in
            session.value.claimsInOrder.map { (session: session.key, id: $0.id, token: $0.claim.token) }
        }
        let members = claims.filter { queue.workflows.places[$0.id] != nil }
        guard let claim = members.randomElement(using: &numbers),
            let token = queue.workflows.places[claim.id]?.first?.workflow
        else { return nil }
        let given = WorkflowClaim(
            id: claim.id,
            queue: "q",
            token: numbers.chance(10) ? claim.token - 1 : claim.token,
            session: claim.session
        )
        return try addition(to: token, by: given)
    }
}

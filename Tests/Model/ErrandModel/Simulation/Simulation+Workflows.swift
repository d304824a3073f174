import Errand

/// Workflows: a third of the seeds push some of their jobs in workflows, and running jobs add to them.
extension Simulation {
    /// A workflow that the producer pushes.
    struct PushedWorkflow {
        let ids: [String]
        let steps: [Command]
        /// How many of the steps were answered.
        var answered = 0
    }

    /// Plans a workflow of the next jobs in some cases. Returns whether it did.
    mutating func planWorkflow() throws -> Bool {
        guard usesWorkflows, pushedWorkflow == nil, nextWorkflow < Universe.workflows.count, numbers.chance(40) else {
            return false
        }
        let token = Universe.workflows[nextWorkflow]
        nextWorkflow += 1
        var members: [WorkflowMember] = []
        for number in 0..<min(2 + numbers.below(4), Self.jobCount - nextJob) {
            let needs = (0..<number).filter { _ in numbers.chance(50) }.map { need(after: $0) }
            members.append(try nextMember(number: number, needs: needs))
        }
        let header = WorkflowHeader(
            id: WorkflowID(queue: world.queue.name, token: token),
            name: Universe.workflowNames[numbers.below(2)],
            policy: [.ignore, .drop, .replace][numbers.below(3)],
            onDead: DeadMemberPolicy.allCases[numbers.below(DeadMemberPolicy.allCases.count)],
            onSuccess: numbers.chance(40) ? try Push(id: "s\(token.suffix(1))").envelope() : nil,
            onFailure: numbers.chance(40) ? try Push(id: "f\(token.suffix(1))").envelope() : nil
        )
        let half = 1 + numbers.below(members.count)
        let additions = [members.prefix(half), members.dropFirst(half)].filter { !$0.isEmpty }
            .map { Command.add(Array($0), to: token, by: nil) }
        pushedWorkflow = PushedWorkflow(
            ids: members.map(\.job.id),
            steps: ([.begin(header)] + additions + [.seal(token)]).map { $0.on(world.queue.name) }
        )
        return true
    }

    private mutating func nextMember(number: Int, needs: [WorkflowNeed]) throws -> WorkflowMember {
        let push = nextPush()
        return WorkflowMember(job: try push.envelope(), number: number, key: "key-\(push.id)", needs: needs)
    }

    private mutating func need(after number: Int, isAdded: Bool = false) -> WorkflowNeed {
        let condition = WorkflowCondition.allCases[numbers.below(WorkflowCondition.allCases.count)]
        return WorkflowNeed(number: number, isAdded: isAdded, condition: condition)
    }

    /// Sends the next step of a push, and the same one again until an answer comes.
    mutating func pushWorkflow() {
        guard let pushed = pushedWorkflow else { return }
        if faultsStrike, numbers.chance(10) || now < brokerIsDownUntil { return note("push lost") }
        let answer = execute(pushed.steps[pushed.answered])
        if case .sealed(.sealed) = answer { world.ledger.accepted.formUnion(pushed.ids) }
        if case .sealed(.replaced) = answer { world.ledger.accepted.formUnion(pushed.ids) }
        if faultsStrike, numbers.chance(10) { return note("receipt lost") }
        switch answer {
        case .begun(.dropped), .sealed(.dropped):
            note("workflow dropped")
            pushedWorkflow = nil
        case .sealed:
            note("workflow pushed")
            pushedWorkflow = nil
        // The broker does not know it: it was dropped when the answer was lost.
        case .no: pushedWorkflow?.answered = 0
        default: pushedWorkflow?.answered += 1
        }
    }

    /// Lets a running job add others to its workflow sometimes.
    mutating func addToWorkflow(_ index: Int, _ claim: Claim) throws {
        guard usesWorkflows, faultsStrike, let session = workers[index].session, nextJob < Self.jobCount,
            numbers.chance(25),
            let place = world.queue.workflows.places[claim.id]?.first
        else { return }
        var members = [try nextMember(number: 0, needs: [need(after: place.number)])]
        if nextJob < Self.jobCount, numbers.chance(50) {
            members.append(try nextMember(number: 1, needs: [need(after: 0, isAdded: true)]))
        }
        let name = world.queue.name
        let own = WorkflowClaim(id: claim.id, queue: name, token: claim.token, session: session.id)
        send(index, Command.add(members, to: place.workflow, by: own).on(name))
    }

    /// Stops a workflow, and cancels its jobs one by one, unless the operator dies in between.
    mutating func stopWorkflow() {
        let running = world.queue.workflows.workflows.filter { $0.value.state != nil && $0.value.ended == nil }
        guard let token = running.keys.sorted().randomElement(using: &numbers) else { return }
        note("workflow stopped")
        execute(.stop(token))
        for number in running[token]?.open.sorted() ?? [] where numbers.chance(80) {
            if let member = running[token]?.members[number] { execute(.cancel([member.job])) }
        }
    }

    /// The dead jobs that hold up workflows.
    var deadHoldingUpWorkflows: [String] {
        world.queue.workflows.workflows.values
            .flatMap { workflow in workflow.dead.map { workflow.members[$0].job } }.sorted()
    }

    /// A worker that has promoted delivers messages: it cancels the jobs of workflows that dead jobs have stopped. The
    /// messages stay until nothing is left to cancel, because its calls may be lost.
    mutating func cancelRest(_ index: Int) {
        let stopped = Set(world.queue.workflows.messages.map(\.workflow))
        guard !stopped.isEmpty else { return }
        let open = stopped.flatMap { world.queue.jobs(of: $0, dead: false).values.joined() }.filter { id in
            guard let job = world.queue.jobs[id], !job.isDead else { return false }
            return job.holder == nil || job.stop == nil
        }
        guard open.isEmpty else { return send(index, .cancel(open.sorted())) }
        note("rest of a workflow cancelled")
        _ = world.queue.takeMessages()
    }

    /// What is left of workflows when all jobs have ended, which should be nothing; `nil` if it is.
    var restOfWorkflows: String? {
        let workflows = world.queue.workflows
        if let open = workflows.workflows.first(where: { $0.value.ended == nil }) { return "W1: \(open) has not ended" }
        // Of messages, those may be left that stop a workflow which has ended meanwhile: the next promotion delivers them.
        if workflows.hasMore { return "W2: work is left: \(workflows)" }
        let places = workflows.places.filter { world.queue.jobs[$0.key]?.isDead != true }
        return places.isEmpty ? nil : "W1: places of ended jobs are left: \(places)"
    }

    /// Notes what has become of workflows in the last transition.
    mutating func noteWorkflows(_ command: Command, _ answer: Answer) {
        for event in world.queue.effects.events {
            switch event.kind {
            case .skipped: note("skipped")
            case .workflowFinished: note("workflow finished")
            case .workflowFailed: note("workflow failed")
            case .workflowCancelled: note("workflow cancelled")
            default: break
            }
        }
        if case .sealed(.replaced) = answer { note("workflow replaced") }
        guard case .add(let members, let token, let claim) = command, claim != nil else { return }
        guard case .added = answer else { return note("addition refused") }
        // Another copy of the call may come after a job was replaced, or dropped.
        note("added by a running job")
        world.ledger.accepted.formUnion(members.map(\.job.id).filter { world.queue.jobs[$0] != nil })
        if world.queue.workflows.workflows[token]?.isStopped == true { note("added to a stopped workflow") }
    }
}

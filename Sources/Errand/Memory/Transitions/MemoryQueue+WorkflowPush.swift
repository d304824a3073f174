/// Pushes of workflows: the header, the members, and the seal.
extension MemoryQueue {
    package mutating func begin(_ header: WorkflowHeader) throws(BrokerError) -> WorkflowBeginning {
        if let known = workflows.workflows[header.id.token] { return known.state == nil ? .begun : .sealed }
        let holder = workflows.names[header.name]
        if header.policy == .drop, let holder { return .dropped(for: "\(name):\(holder)") }
        workflows.workflows[header.id.token] = MemoryWorkflow(
            header: header,
            pushed: now,
            sealedUntil: MemoryRules.later(now, by: MemoryRules.milliseconds(WorkflowLimits.sealing))
        )
        if header.policy == .replace, let holder { return .replaces("\(name):\(holder)") }
        return .begun
    }

    package mutating func add(
        _ members: [WorkflowMember],
        to token: String,
        by claim: WorkflowClaim?
    ) throws(BrokerError) -> [Int] {
        guard let workflow = workflows.workflows[token] else { throw Self.unknownWorkflow }
        if let claim {
            try check(claim, in: workflow)
        } else if workflow.state != nil {
            return members.map(\.number)
        }
        let pushes = try Self.checked(members.map(\.job))
        try checkRoom(for: pushes, as: members, in: workflow)
        let base = claim == nil ? 0 : workflow.members.count
        return zip(members, pushes).map { member, push in add(member, push, to: token, from: base) }
    }

    private static var unknownWorkflow: BrokerError {
        BrokerError(
            .refused,
            "the workflow is not known any more: it was deleted, or its push took more than 10 minutes; push it again"
        )
    }

    /// Throws unless the job is a member that runs with this claim.
    private func check(_ claim: WorkflowClaim, in workflow: MemoryWorkflow) throws(BrokerError) {
        if claim.queue != name {
            // Only the job's own queue knows its claim.
            guard let number = workflow.numbers[claim.id], workflow.open.contains(number) else {
                throw Self.noPlace
            }
            return
        }
        guard sessions[claim.session]?.claims[claim.id]?.token == claim.token else {
            throw BrokerError(
                .refused,
                "the job does not belong to this worker any more, so it adds no jobs to its workflow; its next run does"
            )
        }
        guard places(of: claim.id).contains(where: { $0.workflow == workflow.header.id.token }), workflow.ended == nil
        else {
            throw Self.noPlace
        }
    }

    private static var noPlace: BrokerError {
        BrokerError(.refused, "the workflow has ended, or the job is not one of its jobs, so none can be added")
    }

    private func checkRoom(
        for pushes: [MemoryPush],
        as members: [WorkflowMember],
        in workflow: MemoryWorkflow
    ) throws(BrokerError) {
        let new = try checkNeeds(of: pushes, as: members, in: workflow)
        guard workflow.members.count + new <= WorkflowLimits.members else {
            throw BrokerError(.refused, "a workflow has at most \(WorkflowLimits.members) jobs; split it")
        }
        guard jobs.count + new <= settings.maximumLength else {
            throw fullError(max(0, settings.maximumLength - jobs.count), of: members.count)
        }
        for member in members {
            if let known = workflow.members.firstIndex(where: { $0.key == member.key }),
                workflow.numbers[member.job.id] != known
            {
                throw BrokerError(
                    .refused,
                    "the workflow has another job of the key \"\(member.key)\"; use another key"
                )
            }
        }
    }

    /// Checks that every member comes after earlier ones only. Returns how many members are new.
    private func checkNeeds(
        of pushes: [MemoryPush],
        as members: [WorkflowMember],
        in workflow: MemoryWorkflow
    ) throws(BrokerError) -> Int {
        let base = workflow.members.count
        var new = 0
        for (index, (push, member)) in zip(pushes, members).enumerated() {
            let known = workflow.numbers[push.id]
            let arePossible = member.needs.allSatisfy { need in
                need.number >= 0
                    && (need.isAdded ? need.number < index : need.number < base + new && need.number != known)
            }
            guard arePossible else {
                throw BrokerError(
                    .refused,
                    "the job \"\(member.key)\" comes after one that the workflow does not have yet; add that one first"
                )
            }
            if known == nil { new += 1 }
        }
        return new
    }

    /// Adds a member, or further needs of one. Returns its number.
    private mutating func add(_ member: WorkflowMember, _ push: MemoryPush, to token: String, from base: Int) -> Int {
        guard var workflow = workflows.workflows[token] else { return member.number }
        let known = workflow.numbers[push.id]
        let number = known ?? workflow.members.count
        if known == nil {
            workflow.numbers[push.id] = number
            workflow.members.append(MemoryWorkflow.Member(key: member.key, queue: member.job.queue, job: push.id))
            workflow.open.insert(number)
            jobs[push.id] = push.job(at: now, place: .blocked)
            workflows.places[push.id] = [MemoryWorkflows.Place(workflow: token, number: number)]
            if member.job.queue == name { count(.pushed) }
        } else if workflow.state != nil {
            return number
        }
        let needs = member.needs.map { need in
            WorkflowNeed(number: need.number + (need.isAdded ? base : 0), condition: need.condition)
        }
        var seen = Set(workflow.members[number].needs)
        addNeeds(needs.filter { seen.insert($0).inserted }, of: number, to: &workflow)
        workflows.workflows[token] = workflow
        if workflow.state != nil { meetEnded(number, of: token) }
        return number
    }

    private func addNeeds(_ needs: [WorkflowNeed], of number: Int, to workflow: inout MemoryWorkflow) {
        workflow.members[number].needs += needs
        for need in needs {
            workflow.members[number].unmet.insert(need.number)
            workflow.members[need.number].dependants.insert(.init(condition: need.condition, number: number))
        }
        guard workflow.members[number].needs.isEmpty else { return }
        workflow.members[number].unmet.insert(MemoryWorkflow.seal)
        workflow.roots.insert(.init(condition: .success, number: number))
    }

    /// Looks again at what a member comes after that has ended already, since a running job has added the member.
    private mutating func meetEnded(_ number: Int, of token: String) {
        guard let workflow = workflows.workflows[token] else { return }
        let ended = workflow.members[number].unmet.filter {
            $0 == MemoryWorkflow.seal || !workflow.open.contains($0) || workflow.dead.contains($0)
        }
        for dependency in ended.sorted() {
            note(MemoryWorkflows.Place(workflow: token, number: dependency), workflow.meaning(of: dependency))
        }
    }

    /// Lets the jobs of a workflow run.
    package mutating func seal(_ token: String) throws(BrokerError) -> WorkflowSealing {
        guard let workflow = workflows.workflows[token] else { throw Self.unknownWorkflow }
        guard workflow.state == nil else { return .sealed }
        let holder = workflow.header.policy == .ignore ? nil : workflows.names[workflow.header.name]
        if let holder, workflow.header.policy == .drop {
            forget(token)
            return .dropped(for: "\(name):\(holder)")
        }
        if let holder { stop(holder) }
        workflows.workflows[token]?.state = .running
        if workflow.header.policy != .ignore { workflows.names[workflow.header.name] = token }
        note(MemoryWorkflows.Place(workflow: token, number: MemoryWorkflow.seal), .success)
        for (number, member) in workflow.members.enumerated() where member.ending != nil {
            note(MemoryWorkflows.Place(workflow: token, number: number), workflow.meaning(of: number))
        }
        return holder.map { .replaced("\(name):\($0)") } ?? .sealed
    }

    /// Takes away a job's places in a workflow.
    mutating func leave(_ token: String, _ id: String) {
        workflows.places[id]?.removeAll { $0.workflow == token }
        if workflows.places[id]?.isEmpty == true { workflows.places[id] = nil }
    }

    /// Forgets a workflow with its jobs, none of which runs.
    mutating func forget(_ token: String) {
        guard let workflow = workflows.workflows.removeValue(forKey: token) else { return }
        for number in workflow.open {
            let id = workflow.members[number].job
            leave(token, id)
            if jobs[id]?.place == .blocked { jobs[id] = nil }
        }
        workflows.work.removeAll { $0.place.workflow == token }
        if workflows.names[workflow.header.name] == token { workflows.names[workflow.header.name] = nil }
    }

    /// Forgets workflows that were not sealed in time, and ended ones that are a day old or too many.
    mutating func trimWorkflows() {
        for (token, workflow) in workflows.workflows where workflow.isLate(at: now) { forget(token) }
        let ended = workflows.workflows.values.filter { $0.ended != nil }
        guard ended.count > WorkflowLimits.kept else { return }
        let oldest = ended.sorted { ($0.ended ?? 0) < ($1.ended ?? 0) }.prefix(ended.count - WorkflowLimits.kept)
        for workflow in oldest { forget(workflow.header.id.token) }
    }

    /// The places of a job.
    func places(of id: String) -> [MemoryWorkflows.Place] { workflows.places[id] ?? [] }
}

extension MemoryWorkflow {
    fileprivate func isLate(at now: Int64) -> Bool {
        guard state != nil else { return sealedUntil <= now }
        return ended.map { $0 <= now - MemoryRules.milliseconds(WorkflowLimits.keeping) } ?? false
    }
}

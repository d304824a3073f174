/// The states of workflows: when one has ended, has failed or goes on, and what people change.
extension MemoryQueue {
    /// Decides whether a workflow has ended, has failed, or goes on.
    mutating func settle(_ token: String) {
        guard var workflow = workflows.workflows[token], let before = workflow.state, workflow.ended == nil else {
            return
        }
        if before != .cancelled { workflow.state = workflow.nextState }
        if before == .failed, workflow.state == .running { workflow.round += 1 }
        if workflow.open.isEmpty {
            workflow.ended = now
            workflow.freeResults()
            if workflows.names[workflow.header.name] == token { workflows.names[workflow.header.name] = nil }
        }
        workflows.workflows[token] = workflow
        switch workflow.state {
        case .cancelled: if workflow.open.isEmpty { tell(.workflowCancelled, workflow) }
        case .finished: end(workflow, .workflowFinished, workflow.header.onSuccess)
        case .failed where before != .failed: end(workflow, .workflowFailed, workflow.header.onFailure)
        case .failed, .running, nil: break
        }
    }

    private mutating func end(_ workflow: MemoryWorkflow, _ kind: MemoryEventKind, _ callback: JobEnvelope?) {
        tell(kind, workflow)
        guard let callback, let push = try? Self.checked([callback.of(round: workflow.round)]).first,
            jobs[push.id] == nil, ended.ending(of: push.id, now: now) == nil
        else { return }
        guard callback.queue == name else {
            let arrival = MemoryWorkflowMessage.Content.arrival(push, number: nil)
            return workflows.messages.append(
                .init(queue: callback.queue, workflow: workflow.header.id.token, content: arrival)
            )
        }
        add(push)
        count(.pushed)
    }

    private mutating func tell(_ kind: MemoryEventKind, _ workflow: MemoryWorkflow) {
        if let total = MemoryTotal(rawValue: kind.rawValue) { count(total) }
        var fragment = Array(#""operation":null,"name":"#.utf8)
        JSONEscaping.append(workflow.header.name, to: &fragment)
        publish(
            kind,
            id: "\(name):\(workflow.header.id.token)",
            fragment: fragment,
            MemoryEventDetails(members: Array(#""round":\#(workflow.round)"#.utf8))
        )
    }

    /// Nothing of a workflow starts any more.
    ///
    /// - Returns: whether it had not ended.
    @discardableResult
    package mutating func stop(_ token: String) -> Bool {
        guard let workflow = workflows.workflows[token], workflow.state != nil, workflow.ended == nil else {
            return false
        }
        workflows.workflows[token]?.state = .cancelled
        workflows.changed.insert(token)
        // Dead members have ended then.
        for number in workflow.dead.sorted() {
            leave(token, workflow.members[number].job)
            workflows.workflows[token]?.open.remove(number)
            note(MemoryWorkflows.Place(workflow: token, number: number), .failure)
        }
        workflows.workflows[token]?.dead = []
        return true
    }

    /// The ids of the jobs of a workflow that have not ended, or are dead, by the queues that they are in.
    package func jobs(of token: String, dead: Bool) -> [String: [String]] {
        guard let workflow = workflows.workflows[token] else { return [:] }
        let numbers = (dead ? workflow.dead : workflow.open).sorted()
        let members = numbers.map { workflow.members[$0] }
        return Dictionary(grouping: members) { jobs[$0.job] == nil ? $0.queue : name }.mapValues { $0.map(\.job) }
    }

    package func workflowRecord(of token: String) -> WorkflowRecord? {
        guard let workflow = workflows.workflows[token], let state = workflow.state else { return nil }
        return WorkflowRecord(
            id: workflow.header.id,
            name: workflow.header.name,
            state: state,
            round: workflow.round,
            count: workflow.members.count,
            open: workflow.open.count,
            dead: workflow.dead.count,
            onDead: workflow.header.onDead,
            pushedAt: workflow.pushed,
            endedAt: workflow.ended
        )
    }

    package func memberRecords(of token: String, from first: Int, count: Int) -> [WorkflowMemberRecord] {
        guard let workflow = workflows.workflows[token], workflow.members.indices.contains(first) else { return [] }
        return workflow.members[first...].prefix(min(max(count, 0), WorkflowLimits.portion)).map { member in
            WorkflowMemberRecord(
                key: member.key,
                id: member.job,
                queue: member.queue,
                state: state(of: member),
                needs: member.needs.map { .init(key: workflow.members[$0.number].key, condition: $0.condition) },
                endedAt: member.endedAt
            )
        }
    }

    private func state(of member: MemoryWorkflow.Member) -> JobState {
        if member.isDead { return .dead }
        return member.ending?.state ?? jobs[member.job]?.place.state ?? .blocked
    }

    /// The results of finished members by their keys.
    package func results(for job: String, of keys: [String]?, in token: String) -> [String: [UInt8]] {
        guard let workflow = workflows.workflows[token],
            let number = places(of: job).first(where: { $0.workflow == token })?.number ?? workflow.numbers[job]
        else { return [:] }
        let numbers =
            keys.map { keys in workflow.members.indices.filter { keys.contains(workflow.members[$0].key) } }
            ?? workflow.members[number].needs.map(\.number)
        var results: [String: [UInt8]] = [:]
        for number in numbers { results[workflow.members[number].key] = workflow.members[number].result }
        return results
    }
}

extension MemoryWorkflow {
    /// The state by what has ended.
    fileprivate var nextState: WorkflowState {
        if !dead.isEmpty || cancelsRest { return .failed }
        guard open.isEmpty else { return .running }
        return hasFailure ? .failed : .finished
    }
}

extension MemoryWorkflow {
    /// Forgets what only jobs that have not ended need.
    fileprivate mutating func freeResults() {
        for number in members.indices {
            members[number].result = nil
            members[number].dependants = []
        }
    }
}

extension JobEnvelope {
    /// The job of a later round has another id.
    fileprivate func of(round: Int) -> JobEnvelope {
        round == 1 ? self : with(id: "\(id)-\(round)")
    }
}

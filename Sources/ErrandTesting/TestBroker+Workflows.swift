public import Errand

extension TestBroker {
    /// Begins to push a workflow, unless an injected fault prevents it.
    public func begin(_ workflow: WorkflowHeader) async throws(BrokerError) -> WorkflowBeginning {
        let failure = takeFault { if case .pushFails(let error) = $0 { error } else { nil } }
        if let failure { throw failure }
        return try await memory.begin(workflow)
    }

    /// Adds jobs to a workflow.
    @discardableResult
    public func add(
        _ members: [WorkflowMember],
        to workflow: WorkflowID,
        by claim: WorkflowClaim?
    ) async throws(BrokerError) -> [Int] {
        defer { if claim != nil { noteWork(of: members) } }
        return try await memory.add(members, to: workflow, by: claim)
    }

    /// Seals a workflow; its reply may be lost by an injected fault.
    @discardableResult
    public func seal(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowSealing {
        let sealing = try await memory.seal(workflow)
        gate.noteWork(in: workflow.queue)
        let isLost = takeFault { if case .pushAnswerLost = $0 { true } else { nil } } ?? false
        if isLost { throw BrokerError(.outcomeUnknown, "the reply was lost by the test") }
        return sealing
    }

    private func noteWork(of members: [WorkflowMember]) {
        for queue in Set(members.map(\.job.queue)) { gate.noteWork(in: queue) }
    }

    /// Returns a page of a queue's workflows.
    public func workflows(on queue: String, from cursor: Int, count: Int) async throws(BrokerError) -> WorkflowPage {
        try await memory.workflows(on: queue, from: cursor, count: count)
    }

    /// Returns a workflow; `nil` if it does not exist.
    public func workflow(_ id: WorkflowID) async throws(BrokerError) -> WorkflowRecord? {
        try await memory.workflow(id)
    }

    /// Returns jobs of a workflow in the order of their numbers.
    public func members(
        of workflow: WorkflowID,
        from number: Int,
        count: Int
    ) async throws(BrokerError) -> [WorkflowMemberRecord] {
        try await memory.members(of: workflow, from: number, count: count)
    }

    /// Cancels whatever has not ended of a workflow.
    public func cancel(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        try await memory.cancel(workflow)
    }

    /// Retries the dead jobs that hold up a workflow.
    public func retry(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        defer { gate.noteWork(in: workflow.queue) }
        return try await memory.retry(workflow)
    }

    /// Deletes a workflow with its jobs.
    public func delete(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        try await memory.delete(workflow)
    }

    /// Returns the results of other jobs of a job's workflow.
    public func results(
        for job: String,
        of keys: [String]?,
        in workflow: WorkflowID
    ) async throws(BrokerError) -> [String: [UInt8]] {
        try await memory.results(for: job, of: keys, in: workflow)
    }
}

extension MemoryBroker {
    /// Begins to push a workflow.
    public func begin(_ workflow: WorkflowHeader) async throws(BrokerError) -> WorkflowBeginning {
        try change(workflow.id.queue, creating: true) { queue throws(BrokerError) in try queue.begin(workflow) }
    }

    /// Adds jobs to a workflow that is not sealed, or to one of which a job runs.
    @discardableResult
    public func add(
        _ members: [WorkflowMember],
        to workflow: WorkflowID,
        by claim: WorkflowClaim?
    ) async throws(BrokerError) -> [Int] {
        try change(workflow.queue) { queue throws(BrokerError) in
            try queue.add(members, to: workflow.token, by: claim)
        }
    }

    /// Seals a workflow: its jobs run from now on.
    @discardableResult
    public func seal(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowSealing {
        let sealing = try change(workflow.queue) { queue throws(BrokerError) in try queue.seal(workflow.token) }
        if case .replaced(let other) = sealing, let id = WorkflowID(other) { try await cancelJobs(of: id) }
        return sealing
    }

    /// Returns a page of a queue's workflows, the newest first.
    public func workflows(on queue: String, from cursor: Int, count: Int) async throws(BrokerError) -> WorkflowPage {
        try change(queue) { queue in
            let all = queue.workflows.workflows.values.filter { $0.state != nil }
                .sorted { ($0.pushed, $0.header.id.token) > ($1.pushed, $1.header.id.token) }
            let start = min(max(cursor, 0), all.count)
            let end = min(start + min(max(count, 0), MemoryRules.jobsACall), all.count)
            return WorkflowPage(
                workflows: all[start..<end].compactMap { queue.workflowRecord(of: $0.header.id.token) },
                next: end < all.count ? end : nil
            )
        }
    }

    /// Returns a workflow; `nil` if the broker does not have it.
    public func workflow(_ id: WorkflowID) async throws(BrokerError) -> WorkflowRecord? {
        try change(id.queue) { $0.workflowRecord(of: id.token) }
    }

    /// Returns jobs of a workflow in the order of their numbers.
    public func members(
        of workflow: WorkflowID,
        from number: Int,
        count: Int
    ) async throws(BrokerError) -> [WorkflowMemberRecord] {
        let records = try change(workflow.queue) {
            $0.memberRecords(of: workflow.token, from: number, count: count)
        }
        return try records.map { record throws(BrokerError) in
            guard record.queue != workflow.queue, record.endedAt == nil else { return record }
            // One on its way to another queue still waits.
            let state = try change(record.queue) { $0.record(of: record.id)?.state }
            return state.map { record.with(state: $0) } ?? record
        }
    }

    /// Cancels whatever has not ended.
    public func cancel(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        guard let record = try await self.workflow(workflow) else { return .notFound }
        guard record.endedAt == nil else { return .nothingToDo }
        let stopped = try change(workflow.queue) { $0.stop(workflow.token) }
        guard stopped else { return .nothingToDo }
        try await cancelJobs(of: workflow)
        return .changed(jobs: record.open)
    }

    /// Cancels the jobs of a workflow that was stopped; running ones are asked to stop.
    private func cancelJobs(of workflow: WorkflowID) async throws(BrokerError) {
        var goesOn = true
        while goesOn {
            goesOn = false
            for (queue, ids) in try change(workflow.queue, { $0.jobs(of: workflow.token, dead: false) }) {
                let outcomes = try change(queue) { queue in ids.map { queue.cancel($0) } }
                if outcomes.contains(.cancelled) { goesOn = true }
            }
        }
    }

    /// Retries the dead jobs that hold up a workflow.
    public func retry(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        guard try await self.workflow(workflow) != nil else { return .notFound }
        var retried = 0
        for (queue, ids) in try change(workflow.queue, { $0.jobs(of: workflow.token, dead: true) }) {
            retried += try change(queue) { queue in ids.count { queue.retry($0) == .retried } }
        }
        return retried == 0 ? .nothingToDo : .changed(jobs: retried)
    }

    /// Deletes a workflow with its jobs, unless some of them run.
    public func delete(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        guard let record = try await self.workflow(workflow) else { return .notFound }
        var running = 0
        for (queue, ids) in try change(workflow.queue, { $0.jobs(of: workflow.token, dead: false) }) {
            running += try change(queue) { queue in ids.count { queue.record(of: $0)?.state == .running } }
        }
        guard running == 0 else { return .running(jobs: running) }
        let members = try await members(of: workflow, from: 0, count: record.count)
        let dead = Dictionary(grouping: members.filter { $0.state == .dead }, by: \.queue)
        if record.endedAt == nil { _ = try await cancel(workflow) }
        var deleted = record.open - record.dead
        for (queue, members) in dead {
            deleted += try change(queue) { queue in members.count { queue.delete($0.id) == .deleted } }
        }
        try change(workflow.queue) { $0.forget(workflow.token) }
        return .changed(jobs: deleted)
    }

    /// Returns the results of finished jobs of a workflow.
    public func results(
        for job: String,
        of keys: [String]?,
        in workflow: WorkflowID
    ) async throws(BrokerError) -> [String: [UInt8]] {
        try change(workflow.queue) { $0.results(for: job, of: keys, in: workflow.token) }
    }
}

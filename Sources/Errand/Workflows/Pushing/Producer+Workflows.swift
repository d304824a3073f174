extension Producer {
    /// Pushes a workflow: all of its jobs, or none.
    ///
    /// Jobs are sent in calls of at most 200 and run only after the last call. If a reply is lost, the call is repeated.
    ///
    /// ```swift
    /// let flow = Workflow("import 42") { flow in
    ///     let fetched = flow.add(Fetch(url))
    ///     flow.add(Parse(), after: fetched)
    /// }
    /// let receipt = try await producer.push(flow)
    /// ```
    ///
    /// - Returns: the receipt. If its outcome is `unknown`, push the same value again, which never makes a second
    ///   workflow.
    /// - Throws: ``WorkflowError`` if the workflow is invalid, ``BrokerError`` if it certainly does not run.
    @discardableResult
    public func push(_ workflow: Workflow) async throws -> WorkflowReceipt {
        let start = try await start(hasDelay: workflow.hasDelay, on: workflow.clockQueue)
        return try await push(try workflow.describe(at: start), token: workflow.token)
    }

    /// Pushes a workflow of descriptions: all of its jobs, or none.
    ///
    /// - Parameters:
    ///   - workflow: the workflow.
    ///   - id: the id of an earlier push of the same workflow whose outcome was `unknown`, to repeat it; a new one if
    ///     `nil`.
    /// - Returns: the receipt.
    /// - Throws: ``WorkflowError`` if the workflow is invalid or has another home queue than the id, ``BrokerError`` if it
    ///   certainly does not run.
    @discardableResult
    public func push(_ workflow: WorkflowDescription, id: WorkflowID? = nil) async throws -> WorkflowReceipt {
        if let id, id.queue != workflow.queue {
            let message =
                "the id \(id) is of queue \(id.queue), but the workflow's is \(workflow.queue); correct the id"
            throw WorkflowError(.invalidValue, [], message)
        }
        return try await push(workflow, token: id?.token ?? WorkflowID.makeToken())
    }

    /// Pushes jobs that run one after the other, each one if the one before it has finished.
    ///
    /// - Parameters:
    ///   - jobs: the jobs, 1 to 100,000.
    ///   - name: the workflow's name; `chain of` and the first job's operation if `nil`.
    ///   - onSuccess: the job that is pushed when all have finished.
    ///   - onFailure: the job that is pushed when one of them is dead.
    /// - Throws: as ``push(_:)-(Workflow)``.
    @discardableResult
    public func push(
        chain jobs: [any JobParameters],
        name: String? = nil,
        onSuccess: (any JobParameters)? = nil,
        onFailure: (any JobParameters)? = nil
    ) async throws -> WorkflowReceipt {
        let flow = Workflow(name ?? jobs.name(as: "chain")) { flow in
            var last: [WorkflowNode] = []
            for job in jobs { last = [flow.add(job, after: last)] }
        }
        flow.setCallbacks(onSuccess, onFailure)
        return try await push(flow)
    }

    /// Pushes jobs that run side by side, and a job that is pushed when all of them have finished.
    ///
    /// - Parameters:
    ///   - jobs: the jobs, 1 to 100,000.
    ///   - name: the workflow's name; `batch of` and the first job's operation if `nil`.
    ///   - onSuccess: the job that is pushed when all have finished.
    ///   - onFailure: the job that is pushed when one of them is dead.
    /// - Throws: as ``push(_:)-(Workflow)``.
    @discardableResult
    public func push(
        batch jobs: [any JobParameters],
        name: String? = nil,
        onSuccess: (any JobParameters)? = nil,
        onFailure: (any JobParameters)? = nil
    ) async throws -> WorkflowReceipt {
        let flow = Workflow(name ?? jobs.name(as: "batch")) { flow in
            for job in jobs { flow.add(job) }
        }
        flow.setCallbacks(onSuccess, onFailure)
        return try await push(flow)
    }

    private func push(_ workflow: WorkflowDescription, token: String) async throws -> WorkflowReceipt {
        var receipt: WorkflowReceipt?
        _ = try await middleware.push(workflow.jobs.map(\.description)) { descriptions in
            let plan = try workflow.replacing(descriptions).makePlan(token: token)
            let pushed = try await WorkflowPushCalls(broker: broker).push(plan)
            receipt = pushed
            return plan.receipts(of: workflow, pushed)
        }
        guard let receipt else {
            throw BrokerError(.refused, "a middleware has not pushed the workflow; it must call the next one, or throw")
        }
        return receipt
    }
}

extension [any JobParameters] {
    fileprivate func name(as kind: String) -> String { first.map { "\(kind) of \(type(of: $0).jobName)" } ?? kind }
}

extension Workflow {
    fileprivate func setCallbacks(_ success: (any JobParameters)?, _ failure: (any JobParameters)?) {
        if let success { onSuccess(success) }
        if let failure { onFailure(failure) }
    }
}

extension WorkflowPlan {
    /// The receipts of the jobs for middleware, in the order of the workflow's description.
    fileprivate func receipts(of workflow: WorkflowDescription, _ pushed: WorkflowReceipt) -> [Receipt] {
        let jobs = Dictionary(members.map { ($0.key, $0.job) }) { first, _ in first }
        return workflow.jobs.compactMap { jobs[$0.key]?.receipt(pushed.outcome.ofJobs) }
    }
}

extension WorkflowReceipt.Outcome {
    /// The outcome of each job's push.
    fileprivate var ofJobs: Receipt.Outcome {
        switch self {
        case .accepted, .replaced: .accepted
        case .dropped: .dropped
        case .unknown: .unknown
        }
    }
}

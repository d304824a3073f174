/// The workflow of a running job.
extension JobContext {
    /// The workflow that the job belongs to, and the job's key; `nil` for a job of no workflow.
    ///
    /// A workflow's callbacks have it too, with the keys `on_success` and `on_failure`.
    public var workflow: WorkflowMembership? { run.job.description.workflow }

    /// Whether the job is one of a workflow's jobs, and not its callback.
    package var isWorkflowMember: Bool {
        guard let token = workflow?.id.token else { return false }
        return !["success", "failure"].contains { id.hasPrefix("\(token)-\($0)") }
    }

    /// Returns the result of another job of the workflow, decoded.
    ///
    /// ```swift
    /// let page = try await context.result(of: "fetch", as: Page.self)
    /// ```
    ///
    /// Results are kept until the workflow ends, at most 64 MiB of a workflow. While the broker does not reply, this waits
    /// for it, for as long as the run may last.
    ///
    /// - Parameters:
    ///   - key: the job's key.
    ///   - type: the type of the result.
    /// - Throws: a final ``JobFailure`` if there is no result or it is not JSON, or this job is of no workflow;
    ///   `DecodingError` if the result does not fit the type; ``BrokerError`` if the broker rejects the call or the run has
    ///   to stop before it replies.
    public func result<Value: Decodable>(of key: String, as type: Value.Type = Value.self) async throws -> Value {
        try JobResult.json(try await result(of: key), of: "job \"\(key)\"").decode(type)
    }

    /// Returns the result of a job that was added to the workflow, decoded, as the method with a key
    /// does.
    public func result<Value: Decodable>(of node: WorkflowNode, as type: Value.Type = Value.self) async throws -> Value
    {
        try await result(of: node.key, as: type)
    }

    /// Returns the result of another job of the workflow as it is stored: JSON of a typed job, otherwise the bytes that its
    /// handler returned; empty if it returned none.
    ///
    /// - Throws: as the method that decodes the result does, except `DecodingError`.
    public func result(of key: String) async throws -> [UInt8] {
        let membership = try membership()
        let found = try await results(of: [key], in: membership)
        guard let result = found[key] else {
            throw JobFailure(
                "workflow \(membership.id) has no result of \"\(key)\": it has no such job, or the job has not finished, or the "
                    + "workflow's results exceed 64 MiB; correct the key, or let this job come after that one",
                isFinal: true
            )
        }
        return result
    }

    /// Returns the results of the finished jobs that this job comes after, by their keys, as they are stored.
    ///
    /// A job that ended otherwise has none.
    ///
    /// - Throws: a final ``JobFailure`` if this job is of no workflow, ``BrokerError`` if the broker rejects the call
    ///   or the run has to stop before it replies.
    public func results() async throws -> [String: [UInt8]] { try await results(of: nil, in: try membership()) }

    private func results(
        of keys: [String]?,
        in membership: WorkflowMembership
    ) async throws -> [String: [UInt8]] {
        let broker = try workflowBroker()
        return try await throughOutages { try await broker.results(for: id, of: keys, in: membership.id) }
    }

    func membership() throws(JobFailure) -> WorkflowMembership {
        guard let workflow else {
            throw JobFailure("job \(id) is of no workflow; push it with one", isFinal: true)
        }
        guard isWorkflowMember else {
            throw JobFailure(
                "job \(id) is a callback of workflow \(workflow.id), which has ended: it has no results any more and takes no jobs",
                isFinal: true
            )
        }
        return workflow
    }

    func workflowBroker() throws(BrokerError) -> any WorkflowBroker {
        guard let broker = run.session.broker as? any WorkflowBroker else {
            throw BrokerError(
                .refused,
                "this worker's broker keeps no workflows; use one that conforms to WorkflowBroker"
            )
        }
        return broker
    }
}

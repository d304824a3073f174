import ErrandText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Jobs that a running job adds to its workflow; see ``JobContext/addToWorkflow(_:)``.
public struct WorkflowAddition: WorkflowBuilding {
    /// The jobs so far.
    public let nodes: WorkflowNodes

    /// Returns a job that the workflow has already, so that added jobs can come after it.
    ///
    /// - Parameter key: its key; that of the running job is in ``JobContext/workflow``.
    public func job(_ key: String) -> WorkflowNode { WorkflowNode(key: key, owner: nodes.owner) }
}

extension JobContext {
    /// Adds jobs to the workflow of this job.
    ///
    /// They may come after each other, after jobs that the workflow has, and after this job. Their default keys begin with
    /// this job's key: `parse:page`, `parse:page-2`. The workflow does not end before they have.
    ///
    /// ```swift
    /// try await context.addToWorkflow { flow in
    ///     let pages = links.map { flow.add(Fetch($0)) }
    ///     flow.add(Merge(), after: pages, when: .anyEnd)
    /// }
    /// ```
    ///
    /// Another attempt of this job adds nothing a second time, as long as it adds the same jobs by the same calls in the
    /// same order: a job is the same if it is the nth one of the mth call. While the broker does not reply, this waits for
    /// it, for as long as the run may last.
    ///
    /// - Parameter build: Adds the jobs; each comes after at most 999 others.
    /// - Returns: the ids of the jobs by their keys.
    /// - Throws: ``WorkflowError`` if a job is invalid, a final ``JobFailure`` if this job is of no workflow,
    ///   ``BrokerError`` if the broker rejects the call, this worker no longer has the claim, or the workflow has ended.
    @discardableResult
    public func addToWorkflow(_ build: (WorkflowAddition) throws -> Void) async throws -> [String: String] {
        let membership = try membership()
        let step = run.nextAddition()
        let addition = WorkflowAddition(
            nodes: WorkflowNodes(owner: "\(id) \(step)", prefix: membership.addedPrefix(step: step))
        )
        try build(addition)
        let jobs = try addition.nodes.describe(at: try await clock(for: addition))
        let broker = try workflowBroker()
        let plan = try await throughOutages {
            try await AddedJobs(jobs, by: id, step: step, to: membership.id, on: broker)
        }
        try await add(plan, to: membership.id, on: broker)
        return plan.ids
    }

    private func add(_ jobs: AddedJobs, to workflow: WorkflowID, on broker: any WorkflowBroker) async throws {
        let claim = WorkflowClaim(id: id, queue: queue, token: token, session: run.session.session.id)
        var numbers: [Int] = []
        while let portion = jobs.portion(from: numbers.count, numbers) {
            let added = try await throughOutages { try await broker.add(portion, to: workflow, by: claim) }
            guard added.count == portion.count else {
                throw BrokerError(
                    .protocolViolation,
                    "the broker returned \(added.count) numbers of \(portion.count) jobs"
                )
            }
            numbers += added
        }
    }

    private func clock(for addition: WorkflowAddition) async throws -> Date {
        guard addition.nodes.entries.contains(where: \.hasDelay), let broker = run.session.broker as? any PushingBroker
        else { return Date() }
        let now = try await throughOutages { try await broker.now(on: queue) }
        return Date(timeIntervalSince1970: Double(now) / 1000)
    }
}

extension WorkflowMembership {
    /// What the default keys of added jobs begin with: the key of the job that adds them.
    fileprivate func addedPrefix(step: Int) -> String {
        // A job that was added may add others, and so on.
        let stem = key.utf8.count <= 64 ? key : "added-" + SHA256.hex(Array(key.utf8)).prefix(16)
        return step == 0 ? "\(stem):" : "\(stem):\(step + 1):"
    }
}

/// Makes the calls of a workflow's push. A call whose reply was lost is made again, because every call may be repeated.
struct WorkflowPushCalls: Sendable {
    let broker: any WorkflowBroker
    /// The waits before repetitions.
    var pauses: [Duration] = [.milliseconds(50), .milliseconds(200), .milliseconds(800), .seconds(2)]

    /// Pushes a workflow.
    ///
    /// - Throws: ``BrokerError`` if the workflow certainly does not run.
    func push(_ plan: WorkflowPlan) async throws(BrokerError) -> WorkflowReceipt {
        switch try await begin(plan.header) {
        case .dropped(let other): plan.dropped(for: other)
        case .sealed: plan.receipt()
        case .begun: try await finish(plan)
        case .replaces(let other): try await finish(plan, replacing: other)
        }
    }

    /// Begins the push. A broker that cannot be reached is not waited for again.
    private func begin(_ header: WorkflowHeader) async throws(BrokerError) -> WorkflowBeginning {
        let isLost = { (error: BrokerError) in error.code == .outcomeUnknown }
        return try await repeating(isLost) { () async throws(BrokerError) in try await broker.begin(header) }
    }

    private func finish(
        _ plan: WorkflowPlan,
        replacing other: String? = nil
    ) async throws(BrokerError) -> WorkflowReceipt {
        for portion in WorkflowPortions(plan.members) {
            try await repeating(\.isPassing) { () async throws(BrokerError) in
                _ = try await broker.add(portion, to: plan.header.id, by: nil)
            }
        }
        switch try await seal(plan.header.id) {
        case .dropped(let other): return plan.dropped(for: other)
        case .replaced(let other): return plan.receipt(replacing: other)
        case .sealed: return plan.receipt(replacing: other)
        case nil: return plan.unknownReceipt
        }
    }

    /// Returns `nil` if it is not known whether the workflow runs. Only this call lets jobs run: if one of its replies was
    /// lost, no later error means that they do not.
    private func seal(_ id: WorkflowID) async throws(BrokerError) -> WorkflowSealing? {
        var wasLost = false
        do throws(BrokerError) {
            return try await repeating(\.isPassing) { () async throws(BrokerError) in
                do throws(BrokerError) { return try await broker.seal(id) } catch {
                    wasLost = wasLost || error.leavesUnknown
                    throw error
                }
            }
        } catch {
            guard wasLost else { throw error }
            return nil
        }
    }

    private func repeating<Value>(
        _ isPassing: (BrokerError) -> Bool,
        _ call: () async throws(BrokerError) -> Value
    ) async throws(BrokerError) -> Value {
        for pause in pauses {
            do throws(BrokerError) { return try await call() } catch {
                guard isPassing(error), (try? await Task.sleep(for: pause)) != nil else { throw error }
            }
        }
        return try await call()
    }
}

extension WorkflowPlan {
    fileprivate func dropped(for other: String) -> WorkflowReceipt {
        WorkflowReceipt(workflow: header.id.complete(other), outcome: .dropped, jobs: [:])
    }

    var unknownReceipt: WorkflowReceipt {
        WorkflowReceipt(workflow: header.id.description, outcome: .unknown, jobs: ids)
    }

    func receipt(replacing other: String? = nil) -> WorkflowReceipt {
        WorkflowReceipt(
            workflow: header.id.description,
            outcome: other == nil ? .accepted : .replaced,
            jobs: ids,
            replaced: other.map(header.id.complete)
        )
    }
}

extension WorkflowID {
    /// Returns the id of another workflow of the queue, which a broker may name by its token alone.
    fileprivate func complete(_ other: String) -> String { WorkflowID(other) == nil ? "\(queue):\(other)" : other }
}

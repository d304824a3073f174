import Errand
import Testing

/// A job of a workflow in a case.
struct Node {
    let key: String
    let after: [String]
    let when: WorkflowCondition
    var policy = UniquenessPolicy.ignore
    var expiresIn: Duration?
    /// Makes the job, if it is in another queue than the workflow.
    var other: Fixture?

    init(
        _ key: String,
        after: String...,
        when: WorkflowCondition = .success,
        policy: UniquenessPolicy = .ignore,
        expiresIn: Duration? = nil,
        on other: Fixture? = nil
    ) {
        self.key = key
        self.other = other
        self.after = after
        self.when = when
        self.policy = policy
        self.expiresIn = expiresIn
    }
}

/// A workflow that a case has pushed.
struct PushedWorkflow {
    let id: WorkflowID
    let keys: [String]

    /// The id of a job.
    func job(_ key: String) -> String { id.job(keys.firstIndex(of: key) ?? -1) }
}

/// Workflows.
extension Fixture {
    func header(
        _ id: WorkflowID,
        name: String = "flow",
        _ policy: UniquenessPolicy = .ignore,
        onDead: DeadMemberPolicy = .hold,
        callbacks: Bool = false,
        on other: Fixture? = nil
    ) throws -> WorkflowHeader {
        WorkflowHeader(
            id: id,
            name: name,
            policy: policy,
            onDead: onDead,
            onSuccess: callbacks ? try (other ?? self).job("\(id.token)-success") : nil,
            onFailure: callbacks ? try (other ?? self).job("\(id.token)-failure") : nil
        )
    }

    func newID() -> WorkflowID {
        WorkflowID(
            queue: queue,
            token: String((0..<16).compactMap { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() })
        )
    }

    func members(_ nodes: [Node], of id: WorkflowID) throws -> [WorkflowMember] {
        try nodes.enumerated().map { number, node in
            let needs = node.after.compactMap { key in nodes.firstIndex { $0.key == key } }
            return WorkflowMember(
                job: try (node.other ?? self).job(id.job(number), node.policy, expiresIn: node.expiresIn),
                number: number,
                key: node.key,
                needs: needs.map { WorkflowNeed(number: $0, condition: node.when) }
            )
        }
    }

    /// Pushes a workflow and seals it.
    func pushWorkflow(
        onDead: DeadMemberPolicy = .hold,
        callbacks: Bool = false,
        callbacksOn other: Fixture? = nil,
        _ nodes: Node...
    ) async throws -> PushedWorkflow {
        try await pushWorkflow(onDead: onDead, callbacks: callbacks, callbacksOn: other, of: nodes)
    }

    /// Pushes a workflow of many jobs and seals it.
    func pushWorkflow(
        onDead: DeadMemberPolicy = .hold,
        callbacks: Bool = false,
        callbacksOn other: Fixture? = nil,
        of nodes: [Node]
    ) async throws -> PushedWorkflow {
        let id = newID()
        let header = try header(id, onDead: onDead, callbacks: callbacks || other != nil, on: other)
        #expect(try await broker.begin(header) == .begun)
        let numbers = try await broker.add(try members(nodes, of: id), to: id, by: nil)
        #expect(numbers == Array(nodes.indices))
        #expect(try await broker.seal(id) == .sealed)
        return PushedWorkflow(id: id, keys: nodes.map(\.key))
    }

    /// Makes the first calls of a push: the header, each job, the seal.
    func push(_ nodes: [Node], as id: WorkflowID, calls: Int) async throws {
        if calls > 0 { _ = try await broker.begin(try header(id)) }
        for member in try members(nodes, of: id).prefix(max(0, calls - 1)) {
            try await broker.add([member], to: id, by: nil)
        }
        if calls > nodes.count + 1 { try await broker.seal(id) }
    }

    /// The states of a workflow's jobs by their keys.
    func states(_ workflow: PushedWorkflow) async throws -> [String: JobState] {
        let members = try await broker.members(of: workflow.id, from: 0, count: 1000)
        return Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.state) })
    }

    /// Lets a worker of this queue tell other queues what they have to know.
    func deliver() async throws { _ = try await broker.promote(on: queue) }

    func state(_ workflow: PushedWorkflow) async throws -> WorkflowState? {
        try await broker.workflow(workflow.id)?.state
    }

    /// Returns the events of workflows since the last call, without their prefix.
    func workflowNews() async throws -> [String] {
        try await log.drain().map(\.kind).filter { $0.hasPrefix("workflow_") }.map { String($0.dropFirst(9)) }
    }
}

extension TestSession {
    /// Claims the jobs of a workflow that can run, which must be these, and ends each of them.
    func end(_ verb: OutcomeReport.Verb, _ workflow: PushedWorkflow, _ keys: String...) async throws {
        let claims = try await claim()
        #expect(Set(claims.map(\.id)) == Set(keys.map(workflow.job)))
        for claim in claims { try await report(verb, claim) }
    }
}

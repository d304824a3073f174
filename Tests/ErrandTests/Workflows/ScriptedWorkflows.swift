import Synchronization

@testable import Errand

/// A broker that records the calls of workflow pushes, and fails those that a test names.
final class ScriptedWorkflows: WorkflowBroker {
    struct Call: Sendable, Equatable {
        var kind: String
        var members: [WorkflowMember] = []
        var claim: WorkflowClaim?
    }

    private struct State {
        var calls: [Call] = []
        var failures: [String: [BrokerError]] = [:]
        var records: [WorkflowMemberRecord] = []
        var added = 0
    }

    private let beginning: WorkflowBeginning
    private let sealing: WorkflowSealing
    private let state = Mutex(State())

    init(_ beginning: WorkflowBeginning = .begun, sealing: WorkflowSealing = .sealed) {
        self.beginning = beginning
        self.sealing = sealing
    }

    var calls: [Call] { state.withLock { $0.calls } }
    var kinds: [String] { calls.map(\.kind) }

    /// The errors of the next calls of a kind, in order. The calls are carried out nevertheless.
    func fail(_ kind: String, _ codes: BrokerError.Code...) {
        state.withLock { $0.failures[kind] = codes.map { BrokerError($0, "injected") } }
    }

    /// The jobs that the workflow has already.
    func has(_ records: [WorkflowMemberRecord]) { state.withLock { $0.records = records } }

    private func note(_ call: Call) throws(BrokerError) {
        let failure = state.withLock { state -> BrokerError? in
            state.calls.append(call)
            guard state.failures[call.kind]?.isEmpty == false else { return nil }
            return state.failures[call.kind]?.removeFirst()
        }
        if let failure { throw failure }
    }

    func begin(_ workflow: WorkflowHeader) async throws(BrokerError) -> WorkflowBeginning {
        try note(Call(kind: "begin"))
        return beginning
    }

    func add(
        _ members: [WorkflowMember],
        to workflow: WorkflowID,
        by claim: WorkflowClaim?
    ) async throws(BrokerError) -> [Int] {
        try note(Call(kind: "add", members: members, claim: claim))
        return state.withLock { state in
            let first = state.records.count + state.added
            state.added += members.count
            return Array(first..<first + members.count)
        }
    }

    func seal(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowSealing {
        try note(Call(kind: "seal"))
        return sealing
    }

    func members(
        of workflow: WorkflowID,
        from number: Int,
        count: Int
    ) async throws(BrokerError) -> [WorkflowMemberRecord] {
        state.withLock { Array($0.records.dropFirst(number).prefix(count)) }
    }

    func workflows(on queue: String, from cursor: Int, count: Int) async throws(BrokerError) -> WorkflowPage {
        WorkflowPage()
    }
    func workflow(_ id: WorkflowID) async throws(BrokerError) -> WorkflowRecord? { nil }
    func cancel(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange { .notFound }
    func retry(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange { .notFound }
    func delete(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange { .notFound }
    func results(
        for job: String,
        of keys: [String]?,
        in workflow: WorkflowID
    ) async throws(BrokerError) -> [String: [UInt8]] { [:] }
}

/// The part of a broker that keeps workflows.
///
/// A workflow is pushed in portions: its header, its jobs, and the call that seals it. Until then no worker sees any of
/// its jobs, and it is forgotten ten minutes after its header. Every call may be repeated.
public protocol WorkflowBroker: Sendable {
    /// Begins to push a workflow.
    ///
    /// - Returns: whether jobs can be added, and the other workflow that has the name.
    func begin(_ workflow: WorkflowHeader) async throws(BrokerError) -> WorkflowBeginning

    /// Adds jobs to a workflow that is not sealed, or to one of which a job runs, at most 1,000 jobs and needs a call, in the
    /// order of their numbers. A job of which the workflow has the id already is not added again.
    ///
    /// - Parameters:
    ///   - members: the jobs. Before the workflow is sealed, a job with more needs than a call may have comes in several
    ///     calls, as a member of the same number and key with the rest of its needs. If a running job adds them, their
    ///     numbers are counted from 0 in each call, and their ids are not made of their numbers.
    ///   - workflow: the workflow.
    ///   - claim: the running job that adds them, or `nil` before the workflow is sealed.
    /// - Returns: the numbers that the members have in the workflow, in their order.
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/refused`` if the claim is over, or the workflow has ended.
    @discardableResult
    func add(
        _ members: [WorkflowMember],
        to workflow: WorkflowID,
        by claim: WorkflowClaim?
    ) async throws(BrokerError) -> [Int]

    /// Seals a workflow: its jobs run from now on.
    ///
    /// - Returns: whether they do; another workflow may have taken the name since this one was begun.
    @discardableResult
    func seal(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowSealing

    /// Returns a page of a queue's workflows, the newest first.
    func workflows(on queue: String, from cursor: Int, count: Int) async throws(BrokerError) -> WorkflowPage

    /// Returns a workflow; `nil` if the broker does not have it.
    func workflow(_ id: WorkflowID) async throws(BrokerError) -> WorkflowRecord?

    /// Returns jobs of a workflow in the order of their numbers, at most 1,000.
    func members(
        of workflow: WorkflowID,
        from number: Int,
        count: Int
    ) async throws(BrokerError) -> [WorkflowMemberRecord]

    /// Cancels whatever has not ended.
    func cancel(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange

    /// Retries the dead jobs that hold up a workflow.
    func retry(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange

    /// Deletes a workflow with its jobs, unless some of them run.
    func delete(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange

    /// Returns the results of the jobs that a job of a workflow comes after, by their keys, or of others of its workflow.
    ///
    /// - Parameters:
    ///   - job: the id of a job of a workflow, which has not ended.
    ///   - keys: the keys of other jobs; `nil` for those that it comes after.
    func results(
        for job: String,
        of keys: [String]?,
        in workflow: WorkflowID
    ) async throws(BrokerError) -> [String: [UInt8]]
}

/// The claim of a running job that adds others to its workflow.
public struct WorkflowClaim: Sendable, Equatable {
    /// The id of the running job.
    public let id: String
    /// The queue of the running job.
    public let queue: String
    /// The token of its claim.
    public let token: Token
    /// The session that has it.
    public let session: String

    /// Makes a claim.
    public init(id: String, queue: String, token: Token, session: String) {
        self.id = id
        self.queue = queue
        self.token = token
        self.session = session
    }
}

/// The outcome of the first call of a workflow's push.
public enum WorkflowBeginning: Sendable, Equatable {
    /// Its jobs can be added.
    case begun
    /// It was pushed before, and is sealed.
    case sealed
    /// Another workflow has the name, and the policy drops this one.
    case dropped(for: String)
    /// Another workflow has the name, and is cancelled when this one is sealed.
    case replaces(String)
}

/// The outcome of sealing a workflow.
public enum WorkflowSealing: Sendable, Equatable {
    /// Its jobs run, also if it was sealed before.
    case sealed
    /// Its jobs run, and another workflow of the name was cancelled, whose id this is.
    case replaced(String)
    /// Another workflow has the name, and the policy drops this one: it is forgotten.
    case dropped(for: String)
}

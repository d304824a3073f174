/// The error for a workflow that has not finished.
public struct WorkflowNotFinished: Error, Sendable, Equatable, CustomStringConvertible {
    /// The workflow's id.
    public let id: String
    /// The workflow's state; `nil` if the broker does not have it (any more), or could not be reached.
    public let state: WorkflowState?
    /// Whether the time ran out.
    public let isOutOfTime: Bool
    /// How long the caller wanted to wait; `nil` if without a limit.
    public let limit: Duration?
    /// How many of its jobs have not ended, and what the first of them waits for; or which job is dead.
    public let reason: String?

    /// A sentence with the state and the reason.
    public var description: String {
        let reason = reason.map { ": \($0)" } ?? ""
        let standing = state.map { "is \($0.rawValue)\(reason)" }
        guard isOutOfTime else {
            let unknown =
                "is not known to the broker (any more): check its id, and note that ended workflows are kept for a "
                + "while only"
            return "workflow \(id) \(standing ?? unknown)"
        }
        let waited = limit.map { " within \($0)" } ?? ""
        return "workflow \(id) had not ended\(waited): it \(standing ?? "cannot be looked up"); "
            + "pass a longer time as 'within', or nil to wait for as long as it takes"
    }
}

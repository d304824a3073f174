/// How long a job holds its name, where its ``UniquenessPolicy`` is not `ignore`.
///
/// ```swift
/// // However often the article changes, at most one job waits to index it; a change during a run is indexed by another run.
/// let description = try OperationDescription("index", arguments: ["article": 7], unique: .drop, uniqueUntil: .started)
/// ```
public enum UniqueUntil: String, Sendable, CaseIterable {
    /// Until the job has ended for good: there is one at a time, waiting or running. The default.
    case finished
    /// Until a worker first claims it: one waits at the most, while others may run. A job that comes back into its line has no name
    /// any more: when it failed, its worker died or stopped before it began, or no worker knew its operation. Beside such a one
    /// another of the name may wait.
    case started
}

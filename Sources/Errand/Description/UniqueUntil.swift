/// How long a job holds its name if its ``UniquenessPolicy`` is not `ignore`.
///
/// ```swift
/// // However often the article changes, at most one job waits to index it; a change during a run is indexed by another run.
/// let description = try OperationDescription("index", arguments: ["article": 7], unique: .drop, uniqueUntil: .started)
/// ```
public enum UniqueUntil: String, Sendable, CaseIterable {
    /// Until the job has ended: only one job of the name waits or runs. The default.
    case finished
    /// Until a worker first claims the job: at most one waits, while others may run. A job that becomes ready again has
    /// no name any more, because it failed, its worker died or stopped before it began, or no worker had its operation.
    /// Another job of the name may wait beside it.
    case started
}

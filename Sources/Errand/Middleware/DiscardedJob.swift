/// A job that a worker was handed and cannot run. Nothing is lost: it says what becomes of it.
public struct DiscardedJob: Sendable, Hashable {
    /// Why it cannot be run. More may come in a minor release.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// The word for it, as in metrics.
        public let description: String

        /// What is stored cannot be read; the job is among the dead, for a person to look at.
        public static let unreadable = Reason(description: "unreadable")
        /// The worker has no such operation; the job waits for one that has it.
        public static let unknownOperation = Reason(description: "unknown_operation")
    }

    /// The job's id.
    public let id: String
    /// Where it was in line.
    public let queue: String
    /// What it asks for; `nil` when that cannot be read.
    public let operation: String?
    /// Why it cannot be run here.
    public let reason: Reason
}

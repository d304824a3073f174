/// A job that a worker cannot or may no longer run. It is not lost: the reason determines its next state.
public struct DiscardedJob: Sendable, Hashable {
    /// Why the job cannot be run. A minor release may add more.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// The name of the reason, as in metrics.
        public let description: String

        /// The stored data cannot be read; the job is dead.
        public static let unreadable = Reason(description: "unreadable")
        /// The worker does not have the operation; the job waits for a worker that has it.
        public static let unknownOperation = Reason(description: "unknown_operation")
        /// The job expired before a worker claimed it, and has ended. If the reply of the broker is lost, no worker is told.
        public static let expired = Reason(description: "expired")
    }

    /// The job's id.
    public let id: String
    /// The queue from which it was claimed.
    public let queue: String
    /// The operation; `nil` if the data cannot be read.
    public let operation: String?
    /// Why the worker cannot run the job.
    public let reason: Reason
}

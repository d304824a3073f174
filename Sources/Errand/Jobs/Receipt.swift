/// What a push returns.
public struct Receipt: Sendable, Equatable {
    /// What became of the push.
    public enum Outcome: String, Sendable, CaseIterable {
        /// The job is in line, or scheduled.
        case accepted
        /// An unfinished job holds the name and this one gave way to it.
        case dropped
        /// An unfinished job held the name, had not started, and gave way to this one.
        case replaced
        /// A running job holds the name and was told to stop; this one runs when that has ended.
        case deferred
        /// The broker has, or lately had, a job of this id; nothing was done.
        case exists
        /// The answer was lost: the job may or may not have been accepted. Push it again with the same id.
        case unknown
    }

    /// The id of the job that will run: the pushed one's, or the holder's when this one was dropped.
    public let id: String
    /// The queue.
    public let queue: String
    /// What became of the push.
    public let outcome: Outcome
    /// The job that held the name, where one did.
    public let holder: String?

    /// Makes a receipt.
    public init(id: String, queue: String, outcome: Outcome, holder: String? = nil) {
        self.id = id
        self.queue = queue
        self.outcome = outcome
        self.holder = holder
    }
}

/// What a push returns.
public struct Receipt: Sendable, Equatable, Codable {
    /// The outcome of a push.
    public enum Outcome: String, Sendable, CaseIterable, Codable {
        /// The job is ready or scheduled.
        case accepted
        /// An unfinished job holds the name, or a throttle's window is not over, so the new job was dropped.
        case dropped
        /// A waiting job held the name, and the new job has replaced it.
        case replaced
        /// A running job holds the name; the new job runs after it.
        case deferred
        /// The broker has, or recently had, a job with this id; nothing was done.
        case exists
        /// The reply was lost: the job may or may not have been accepted. Push it again with the same id.
        case unknown
    }

    /// The id of the job that will run: the pushed one's, or the holder's if the pushed one was dropped.
    public let id: String
    /// The queue.
    public let queue: String
    /// The outcome of the push.
    public let outcome: Outcome
    /// The job that held the name, or the first one in a throttle's window, if there was one.
    public let holder: String?
    /// In milliseconds since 1970 UTC by the broker's clock: until when a throttle drops jobs of this name, or when a
    /// debounced job is due unless a newer one comes. `nil` for other policies.
    public let until: Int64?

    /// Makes a receipt.
    public init(id: String, queue: String, outcome: Outcome, holder: String? = nil, until: Int64? = nil) {
        self.id = id
        self.queue = queue
        self.outcome = outcome
        self.holder = holder
        self.until = until
    }
}

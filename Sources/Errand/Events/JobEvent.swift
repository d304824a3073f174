#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One event of a queue, read from its line on the channel.
///
/// Any program with access to the broker can write to the channel, so every part may be missing.
public struct JobEvent: Sendable, Equatable, Decodable {
    /// The kind of event. A minor release may add more.
    public struct Kind: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The kind's name on the channel.
        public let rawValue: String

        /// Makes a kind from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The kind's name on the channel.
        public var description: String { rawValue }

        /// A run began; published if the queue's settings say so.
        public static let started = Kind(rawValue: "started")
        /// The job has finished.
        public static let finished = Kind(rawValue: "finished")
        /// A run failed.
        public static let failed = Kind(rawValue: "failed")
        /// A run took longer than its timeout.
        public static let timedOut = Kind(rawValue: "timed_out")
        /// The job was cancelled.
        public static let cancelled = Kind(rawValue: "cancelled")
        /// A worker released the job, which spends nothing.
        public static let released = Kind(rawValue: "released")
        /// The job was recovered from a dead worker.
        public static let recovered = Kind(rawValue: "recovered")
        /// The job waits for a retry.
        public static let retrying = Kind(rawValue: "retrying")
        /// The job is dead; it can be retried or deleted by hand.
        public static let dead = Kind(rawValue: "dead")
        /// A push was dropped, because another job holds its name.
        public static let dropped = Kind(rawValue: "dropped")
        /// A newer job replaced the job.
        public static let replaced = Kind(rawValue: "replaced")
        /// No worker had claimed the job when it expired.
        public static let expired = Kind(rawValue: "expired")
        /// The job can never run any more, because others of its workflow have ended otherwise than it asks.
        public static let skipped = Kind(rawValue: "skipped")
        /// All jobs of a workflow have ended, and none was cancelled, deleted or expired.
        public static let workflowFinished = Kind(rawValue: "workflow_finished")
        /// A job of a workflow is dead, or all have ended and one was cancelled, deleted or expired.
        public static let workflowFailed = Kind(rawValue: "workflow_failed")
        /// A workflow was cancelled, and all of its jobs have ended.
        public static let workflowCancelled = Kind(rawValue: "workflow_cancelled")
        /// A running job has reported its progress.
        public static let progress = Kind(rawValue: "progress")
    }

    /// The kind's name as on the channel.
    public var event: String?
    /// The job.
    public var id: String?
    /// The job's operation.
    public var operation: String?
    /// The job's name.
    public var name: String?
    /// The job's tags; `nil` if it has none.
    public var tags: [String]?
    /// The queue.
    public var queue: String?
    /// The attempt, from 1.
    public var attempt: Int64?
    /// The session that ran the job.
    public var worker: String?
    /// The time, in milliseconds since 1970 UTC.
    public var atMilliseconds: Int64?
    /// How long the run took, in milliseconds.
    public var durationMilliseconds: Int64?
    /// Why the run failed.
    public var error: String?
    /// The part that is done, from 0 to 1, in an event `progress`.
    public var fraction: Double?
    /// What the job does now, in an event `progress`.
    public var message: String?

    private enum CodingKeys: String, CodingKey {
        case event, id, operation, name, tags, queue, attempt, worker, error, fraction, message
        case atMilliseconds = "at_ms"
        case durationMilliseconds = "duration_ms"
    }

    /// The kind of event.
    public var kind: Kind? { event.map(Kind.init(rawValue:)) }

    /// Makes an event that this library publishes itself.
    package init(event: String, queue: String, atMilliseconds: Int64) {
        self.event = event
        self.queue = queue
        self.atMilliseconds = atMilliseconds
    }

    /// Reads a line; `nil` if it is not an event.
    public init?(line: [UInt8]) {
        guard let text = try? JSONText(validating: line), let event = try? text.decode(JobEvent.self) else {
            return nil
        }
        self = event
    }
}

extension QueueEvents {
    /// The message's events, without lines that are not events.
    public var events: [JobEvent] { lines.compactMap(JobEvent.init(line:)) }
}

extension JobRecord {
    /// The error of the last event that the broker has kept of the job; for one that is not over, of its last run that
    /// has one, since runs whose worker was lost have none.
    public var lastError: String? {
        let isOver = state.hasEnded && state != .dead
        let told = isOver ? events.prefix(1) : events[...]
        return told.lazy.compactMap { JobEvent(line: $0)?.error }.first
    }
}

extension WatchingBroker {
    /// A queue's events as they are published, or those of every queue (also of later ones) if `queue` is `nil`.
    ///
    /// ```swift
    /// for try await event in broker.events(queue: "mail") where event.kind == .dead { alert(event) }
    /// ```
    ///
    /// A subscriber that is disconnected or too slow misses events.
    public func events(queue: String?) -> some AsyncSequence<JobEvent, any Error> & Sendable {
        let messages = events(of: queue.map { [$0] })
        return AsyncThrowingStream<JobEvent, any Error> { continuation in
            let reading = Task {
                do {
                    for try await message in messages {
                        for event in message.events { continuation.yield(event) }
                    }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }
}

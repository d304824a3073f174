#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One event of a queue, read from its line on the channel.
///
/// Whoever can write to the broker can write anything, so every part may be missing.
public struct JobEvent: Sendable, Equatable, Decodable {
    /// What happened. More may come in a minor release.
    public struct Kind: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The word on the channel.
        public let rawValue: String

        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The word.
        public var description: String { rawValue }

        /// A run began; published where the queue's settings ask for it.
        public static let started = Kind(rawValue: "started")
        /// The job is done.
        public static let finished = Kind(rawValue: "finished")
        /// A run failed.
        public static let failed = Kind(rawValue: "failed")
        /// A run took longer than its timeout.
        public static let timedOut = Kind(rawValue: "timed_out")
        /// The job was cancelled.
        public static let cancelled = Kind(rawValue: "cancelled")
        /// A worker gave the job back, with nothing spent.
        public static let released = Kind(rawValue: "released")
        /// The job was taken back from a worker that died.
        public static let recovered = Kind(rawValue: "recovered")
        /// The job is to be tried again later.
        public static let retrying = Kind(rawValue: "retrying")
        /// The job was given up; a person decides.
        public static let dead = Kind(rawValue: "dead")
        /// A push gave way to a job that holds its name.
        public static let dropped = Kind(rawValue: "dropped")
        /// A newer job took its place.
        public static let replaced = Kind(rawValue: "replaced")
        /// A running job has told how far it is.
        public static let progress = Kind(rawValue: "progress")
    }

    /// What happened, as the channel spells it.
    public var event: String?
    /// The job.
    public var id: String?
    /// The job's operation.
    public var operation: String?
    /// The job's name.
    public var name: String?
    /// The queue.
    public var queue: String?
    /// Which attempt it was, from 1.
    public var attempt: Int64?
    /// The session that ran it.
    public var worker: String?
    /// When, in milliseconds since 1970 UTC.
    public var atMilliseconds: Int64?
    /// How long the run took, in milliseconds.
    public var durationMilliseconds: Int64?
    /// Why it failed.
    public var error: String?
    /// The part that is done, from 0 to 1, of an event `progress`.
    public var fraction: Double?
    /// What the job does now, of an event `progress`.
    public var message: String?

    private enum CodingKeys: String, CodingKey {
        case event, id, operation, name, queue, attempt, worker, error, fraction, message
        case atMilliseconds = "at_ms"
        case durationMilliseconds = "duration_ms"
    }

    /// What happened.
    public var kind: Kind? { event.map(Kind.init(rawValue:)) }

    /// An event that this library tells itself.
    package init(event: String, queue: String, atMilliseconds: Int64) {
        self.event = event
        self.queue = queue
        self.atMilliseconds = atMilliseconds
    }

    /// Reads a line; `nil` when it is not an event.
    public init?(line: [UInt8]) {
        guard let text = try? JSONText(validating: line), let event = try? text.decode(JobEvent.self) else {
            return nil
        }
        self = event
    }
}

extension QueueEvents {
    /// The message's events; lines that are none are left out.
    public var events: [JobEvent] { lines.compactMap(JobEvent.init(line:)) }
}

extension JobRecord {
    /// The error of the last event that the broker kept of the job.
    public var lastError: String? { JobEvent(line: lastEvent)?.error }
}

extension WatchingBroker {
    /// A queue's events, one after the other, as they come; of every queue, also later ones, when `queue` is `nil`.
    ///
    /// ```swift
    /// for try await event in broker.events(queue: "mail") where event.kind == .dead { alert(event) }
    /// ```
    ///
    /// Events are hints: a subscriber that is cut off or too slow misses some.
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

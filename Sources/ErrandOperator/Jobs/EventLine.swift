package import Errand
import Foundation

/// One event of a queue, read from its line. Whoever can write to the broker can write anything, so every part may be
/// missing.
package struct EventLine: Sendable, Decodable {
    /// What happened.
    package var event: String?
    /// The job.
    package var id: String?
    /// The job's operation.
    package var operation: String?
    /// The job's name.
    package var name: String?
    /// The queue.
    package var queue: String?
    /// Which attempt it was, from 1.
    package var attempt: Int64?
    /// The session that ran it.
    package var worker: String?
    /// When, in milliseconds since 1970 UTC.
    package var atMilliseconds: Int64?
    /// How long the run took, in milliseconds.
    package var durationMilliseconds: Int64?
    /// Why it failed.
    package var error: String?

    private enum CodingKeys: String, CodingKey {
        case event, id, operation, name, queue, attempt, worker, error
        case atMilliseconds = "at_ms"
        case durationMilliseconds = "duration_ms"
    }

    /// Reads a line; `nil` when it is not an event.
    package init?(_ line: [UInt8]) {
        guard let text = try? JSONText(validating: line), let event = try? text.decode(EventLine.self) else {
            return nil
        }
        self = event
    }
}

extension JobRecord {
    /// The error of the last event that the broker kept of the job.
    package var lastError: String? { EventLine(lastEvent)?.error }
}

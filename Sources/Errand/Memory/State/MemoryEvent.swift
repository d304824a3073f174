/// An event of a job. Its line is written only where it is stored or sent.
package struct MemoryEvent: Sendable, Equatable {
    package let kind: MemoryEventKind
    package let id: String
    package let details: MemoryEventDetails
    /// The `"operation":…,"name":…,"tags":…` part.
    let fragment: [UInt8]
    let queue: String
    let at: Int64

    /// The text of the event. One that would be too long for a message loses its names, its error and its members.
    package var line: [UInt8] {
        let whole = line(fragment, details.error, details.members)
        guard whole.count > MemoryEffects.mostMessageBytes else { return whole }
        return line(MemoryHeader.nameless, "too long for an event", [])
    }

    private func line(_ fragment: [UInt8], _ error: String?, _ members: [UInt8]) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256 + fragment.count + (error?.utf8.count ?? 0) + members.count)
        line += #"{"event":""#.utf8
        line += kind.rawValue.utf8
        line += #"","id":""#.utf8
        line += id.utf8
        line += #"","#.utf8
        line += fragment
        line += #","queue":""#.utf8
        line += queue.utf8
        line += #"","attempt":"#.utf8
        line += String(details.attempt).utf8
        line += #","worker":"#.utf8
        Self.append(details.worker, to: &line)
        line += #","at_ms":"#.utf8
        line += String(at).utf8
        line += #","duration_ms":"#.utf8
        line += String(details.milliseconds).utf8
        line += #","error":"#.utf8
        Self.append(error, to: &line)
        if !members.isEmpty { line += [UInt8(ascii: ",")] + members }
        line.append(UInt8(ascii: "}"))
        return line
    }

    private static func append(_ text: String?, to line: inout [UInt8]) {
        if let text { JSONEscaping.append(text, to: &line) } else { line += "null".utf8 }
    }
}

/// The kinds of events.
package enum MemoryEventKind: String, Sendable {
    case started, finished, failed, retrying, cancelled, dropped, replaced, released, recovered, expired, skipped, dead,
        progress
    case workflowFinished = "workflow_finished"
    case workflowFailed = "workflow_failed"
    case workflowCancelled = "workflow_cancelled"
    case timedOut = "timed_out"
}

/// The members of an event besides its kind and the job.
package struct MemoryEventDetails: Sendable, Equatable {
    package var attempt = 0
    package var worker: String?
    var milliseconds = 0
    package var error: String?
    /// Further members, as JSON.
    var members: [UInt8] = []
}

extension MemoryQueue {
    /// Publishes an event of a job.
    @discardableResult
    mutating func publish(_ kind: MemoryEventKind, of job: MemoryJob, _ details: MemoryEventDetails) -> MemoryEvent {
        publish(kind, id: job.id, fragment: job.header.fragment, details)
    }

    /// Publishes an event of a job that may not be in the queue.
    @discardableResult
    mutating func publish(
        _ kind: MemoryEventKind,
        id: String,
        fragment: [UInt8],
        _ details: MemoryEventDetails
    ) -> MemoryEvent {
        let event = MemoryEvent(kind: kind, id: id, details: details, fragment: fragment, queue: name, at: now)
        effects.events.append(event)
        if settings.keptEvents > 0 { log.append(event.line, keeping: settings.keptEvents, now: now) }
        return event
    }
}

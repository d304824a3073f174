/// The kinds of events.
enum MemoryEventKind: String {
    case started, finished, failed, retrying, cancelled, dropped, replaced, released, recovered, dead, progress
    case timedOut = "timed_out"
}

/// The members of an event besides its kind and the job.
struct MemoryEventDetails {
    var attempt = 0
    var worker: String?
    var milliseconds = 0
    var error: String?
    /// Further members, as JSON.
    var members: [UInt8] = []
}

extension MemoryQueue {
    /// Publishes an event of a job and returns its line.
    @discardableResult
    mutating func publish(_ kind: MemoryEventKind, of job: MemoryJob, _ details: MemoryEventDetails) -> [UInt8] {
        publish(kind, id: job.id, fragment: job.header.fragment, details)
    }

    /// Publishes an event of a job that may not be in the queue, and returns its line.
    @discardableResult
    mutating func publish(
        _ kind: MemoryEventKind,
        id: String,
        fragment: [UInt8],
        _ details: MemoryEventDetails
    ) -> [UInt8] {
        var line = eventLine(kind, id: id, fragment: fragment, details)
        if line.count > MemoryOutbox.mostMessageBytes {
            var short = details
            short.error = "too long for an event"
            short.members = []
            line = eventLine(kind, id: id, fragment: MemoryHeader.nameless, short)
        }
        outbox.add(event: line)
        if settings.keptEvents > 0 { log.append(line, keeping: settings.keptEvents, now: now) }
        return line
    }

    private func eventLine(
        _ kind: MemoryEventKind,
        id: String,
        fragment: [UInt8],
        _ details: MemoryEventDetails
    ) -> [UInt8] {
        var line = Array(#"{"event":"\#(kind.rawValue)","id":"\#(id)","#.utf8)
        line.append(contentsOf: fragment)
        line.append(contentsOf: #","queue":"\#(name)","attempt":\#(details.attempt),"worker":"#.utf8)
        appendText(details.worker, to: &line)
        line.append(contentsOf: #","at_ms":\#(now),"duration_ms":\#(details.milliseconds),"error":"#.utf8)
        appendText(details.error, to: &line)
        if !details.members.isEmpty { line += [UInt8(ascii: ",")] + details.members }
        line.append(UInt8(ascii: "}"))
        return line
    }

    private func appendText(_ text: String?, to line: inout [UInt8]) {
        if let text { JSONEscaping.append(text, to: &line) } else { line.append(contentsOf: "null".utf8) }
    }
}

import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

/// A writer that prints each event immediately. Any client of the broker can publish messages, so those that are not
/// events are skipped.
struct EventWriter: Sendable {
    private let asJSON: Bool
    private let operations: Set<String>
    private let coloured = Terminal.takesColours

    /// Makes a writer for events of these operations; an empty set means all.
    init(asJSON: Bool, operations: Set<String>) {
        self.asJSON = asJSON
        self.operations = operations
    }

    /// Writes the events of a message.
    func write(_ message: QueueEvents) {
        for line in message.lines { if let event = JobEvent(line: line) { write(event, line, message.queue) } }
    }

    /// Writes an event of a queue's durable stream, or reports a gap on standard error.
    func write(_ next: StreamedEvent, of queue: String) {
        switch next {
        case .event(let kept): write(kept.event, kept.line, queue)
        case .gap(let gap):
            let lost = gap.lost.map { $0.counted("event") } ?? "an unknown number of events"
            StandardError.write("gap: \(lost) of \(queue) missed; going on after \(gap.cursor)")
        }
    }

    private func write(_ event: JobEvent, _ line: [UInt8], _ queue: String) {
        guard let kind = event.event, operations.isEmpty || operations.contains(event.operation ?? "") else { return }
        if asJSON {
            StandardOutput.write(line)
        } else {
            StandardOutput.write(words(for: event, kind, line, queue))
        }
    }

    private func words(for event: JobEvent, _ kind: String, _ line: [UInt8], _ queue: String) -> String {
        let progress = kind == "progress" ? JobProgress(json: line) : nil
        // Colours are control characters, too, so each part is made safe by itself.
        let head = [
            event.atMilliseconds.map(Timestamp.text), paint(kind), event.id?.onOneLine(), queue.onOneLine(),
            event.operation?.onOneLine(), event.name.map { "\"\($0.onOneLine(atMost: 80))\"" },
        ]
        let run = [
            event.attempt.map { "attempt \($0)" },
            progress.map(Self.words(for:)) ?? event.durationMilliseconds.map { TimeSpanText.exact($0) },
            event.worker.map { "on \($0.onOneLine())" },
            event.error.map { Colour.red.painted($0.onOneLine(atMost: 200), on: coloured) },
        ]
        return (head + run).compactMap(\.self).joined(separator: "  ")
    }

    private static func words(for progress: JobProgress) -> String {
        let percent = "\(Int((progress.fraction * 100).rounded())) %"
        return percent + (progress.message.map { ": \($0.onOneLine(atMost: 200))" } ?? "")
    }

    private func paint(_ kind: String) -> String {
        let word = kind.onOneLine(atMost: 40)
        let padded = word + String(repeating: " ", count: max(0, 9 - word.count))
        return switch kind {
        case "finished", "workflow_finished": Colour.green.painted(padded, on: coloured)
        case "failed", "timed_out", "dead", "workflow_failed": Colour.red.painted(padded, on: coloured)
        case "retrying", "recovered", "released": Colour.yellow.painted(padded, on: coloured)
        default: padded
        }
    }
}

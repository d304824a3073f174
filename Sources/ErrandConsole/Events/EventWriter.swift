import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

/// Writes events, each at once. Whoever can write to the broker can publish anything: what is no event is passed over.
struct EventWriter: Sendable {
    private let asJSON: Bool
    private let operations: Set<String>
    private let coloured = Terminal.takesColours

    /// Makes a writer for events of these operations, or of all when there are none.
    init(asJSON: Bool, operations: Set<String>) {
        self.asJSON = asJSON
        self.operations = operations
    }

    /// Writes the events of a message.
    func write(_ message: QueueEvents) {
        for line in message.lines { if let event = JobEvent(line: line) { write(event, line, message.queue) } }
    }

    /// Writes what comes out of the durable stream of a queue; a gap is told where a person reads it.
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
            StandardOutput.write(words(for: event, kind, queue))
        }
    }

    private func words(for event: JobEvent, _ kind: String, _ queue: String) -> String {
        // Colours are steering characters too, so what others wrote is made safe part by part.
        let head = [
            event.atMilliseconds.map(Timestamp.text), paint(kind), event.id?.onOneLine(), queue.onOneLine(),
            event.operation?.onOneLine(), event.name.map { "\"\($0.onOneLine(atMost: 80))\"" },
        ]
        let run = [
            event.attempt.map { "attempt \($0)" }, event.durationMilliseconds.map { TimeSpanText.exact($0) },
            event.worker.map { "on \($0.onOneLine())" },
            event.error.map { Colour.red.painted($0.onOneLine(atMost: 200), on: coloured) },
        ]
        return (head + run).compactMap(\.self).joined(separator: "  ")
    }

    private func paint(_ kind: String) -> String {
        let word = kind.onOneLine(atMost: 9)
        let padded = word + String(repeating: " ", count: max(0, 9 - word.count))
        return switch kind {
        case "finished": Colour.green.painted(padded, on: coloured)
        case "failed", "timed_out", "dead": Colour.red.painted(padded, on: coloured)
        case "retrying", "recovered", "released": Colour.yellow.painted(padded, on: coloured)
        default: padded
        }
    }
}

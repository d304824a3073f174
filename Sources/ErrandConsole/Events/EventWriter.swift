import Errand
import ErrandCommandLine
import ErrandOperator

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
        for line in message.lines {
            guard let event = JobEvent(line: line), let kind = event.event else { continue }
            guard operations.isEmpty || operations.contains(event.operation ?? "") else { continue }
            if asJSON {
                StandardOutput.write(line)
            } else {
                StandardOutput.write(words(for: event, kind, message.queue))
            }
        }
    }

    private func words(for event: JobEvent, _ kind: String, _ queue: String) -> String {
        // Colours are steering characters too, so what others wrote is made safe part by part.
        let head = [
            event.atMilliseconds.map(Timestamp.text), paint(kind), event.id?.onOneLine(), queue.onOneLine(),
            event.operation?.onOneLine(), event.name.map { "\"\($0.onOneLine(atMost: 80))\"" },
        ]
        let run = [
            event.attempt.map { "attempt \($0)" }, event.durationMilliseconds.map { Timestamp.span(Int($0)) },
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

extension Universe {
    /// The line of an event, as the contract has it.
    package func append(_ event: Event, to line: inout [UInt8]) {
        line += #"{"event":""#.utf8
        line += event.kind.rawValue.utf8
        line += #"","id":""#.utf8
        line += ids[event.id].utf8
        line += #"","#.utf8
        appendFragment(event.operation, event.name, to: &line)
        line += #","queue":""#.utf8
        line += queue.utf8
        line += #"","attempt":"#.utf8
        line += String(event.attempt).utf8
        line += #","worker":"#.utf8
        append(quoted: event.worker.map { sessions[$0] }, to: &line)
        line += #","at_ms":"#.utf8
        line += String(event.at).utf8
        line += #","duration_ms":"#.utf8
        line += String(event.duration).utf8
        line += #","error":"#.utf8
        append(quoted: event.reason.map(text), to: &line)
        line.append(UInt8(ascii: "}"))
    }

    package func lines(of events: [Event]) -> [UInt8] {
        var lines: [UInt8] = []
        guard !events.isEmpty else { return lines }
        lines.reserveCapacity(events.count * 200)
        for event in events {
            if !lines.isEmpty { lines.append(UInt8(ascii: "\n")) }
            append(event, to: &lines)
        }
        return lines
    }

    package func appendFragment(_ operation: Operation, _ name: Name?, to line: inout [UInt8]) {
        line += #""operation":""#.utf8
        line += operations[operation].utf8
        line += #"","name":"#.utf8
        append(quoted: name.map { names[$0] }, to: &line)
    }

    private func append(quoted text: String?, to line: inout [UInt8]) {
        guard let text else {
            line += "null".utf8
            return
        }
        line.append(UInt8(ascii: "\""))
        line += text.utf8
        line.append(UInt8(ascii: "\""))
    }

    private func text(_ reason: Reason) -> String {
        switch reason {
        case .said: Self.error
        case .stuck: "no outcome by the hard deadline: the worker is stuck"
        case .killsItsWorkers(let crashes, let alone):
            "its worker died \(crashes) times while running it, \(alone) of them with nothing else"
        }
    }

    /// How many bytes they take with one between two of them.
    package func length(of events: [Event]) -> Int64 { Int64(lines(of: events).count) }
}

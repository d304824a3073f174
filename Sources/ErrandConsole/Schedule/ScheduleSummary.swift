import Errand
import ErrandCommandLine
import ErrandOperator

/// The console's output for a schedule.
struct ScheduleSummary: Sendable {
    let queue: String
    let record: ScheduleRecord

    /// The schedule as JSON for programs. `definition` is the stored one, and `null` if it cannot be read.
    var json: JSONOutput {
        [
            "name": .text(record.name), "queue": .text(queue), "paused": .truth(record.isPaused),
            "next_ms": .number(orNull: record.nextTick), "last_ms": .number(orNull: record.lastTick),
            "pushed": .count(record.pushed), "missed": .count(record.missed),
            "problem": .text(orNull: record.problem?.description),
            "origin": .text(orNull: record.schedule?.origin.word),
            "catalogue": .text(orNull: record.schedule?.origin.catalogue),
            "removed_ms": .number(orNull: record.schedule?.origin.removed),
            "edited_ms": .number(orNull: record.schedule?.origin.edited),
            "definition": record.schedule == nil ? .null : .written(record.definition),
        ]
    }

    /// The schedule for people.
    var lines: [String] {
        let moments = MomentText()
        var lines = ["\(record.name) of \(queue)"]
        func add(_ title: String, _ value: String?) { if let value { lines.append("  \(title.padded)\(value)") } }
        if let schedule = record.schedule {
            add("ticks", schedule.timing.description)
            add("operation", schedule.template.operation)
            add("arguments", schedule.template.arguments.description)
            add("overlap", schedule.overlap.rawValue)
            add("catch-up", schedule.catchUp.text)
            add("revision", "\(schedule.revision)")
            add("from", schedule.origin.description)
            add("edited", schedule.origin.edited.map(moments.detail))
        }
        add("problem", record.problem?.description)
        add("next", record.isPaused ? "paused" : record.nextTick.map(moments.detail))
        add("last", record.lastTick.map(moments.detail) ?? "never")
        add("pushed", "\(record.pushed)")
        add("missed", "\(record.missed)")
        return lines.map { $0.onOneLine() }
    }
}

extension Schedule.CatchUp {
    var text: String {
        if case .all(let limit) = self { "all, up to \(limit)" } else { word }
    }
}

extension String {
    fileprivate var padded: String { padding(toLength: 12) }

    private func padding(toLength length: Int) -> String {
        self + String(repeating: " ", count: max(1, length - count))
    }
}

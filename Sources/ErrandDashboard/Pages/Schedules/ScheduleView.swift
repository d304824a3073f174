import Errand
import ErrandOperator

/// The values of a schedule for the template of the list.
struct ScheduleView {
    private static let ticksShown = 5

    let record: ScheduleRecord
    let queue: String
    /// The job of the last tick, if the broker still has it.
    let lastJob: JobRecord?
    let moments: MomentView

    var values: [String: Any] {
        let ways = [("run", "Run now"), record.isPaused ? ("resume", "Resume") : ("pause", "Pause")]
        return [
            "name": record.name, "place": FormFields.encode(record.name), "queue": queue,
            "isBad": record.problem != nil, "isPaused": record.isPaused, "canEdit": record.schedule != nil,
            "timing": record.schedule?.timing.words ?? record.problem?.description ?? "–",
            "expression": record.schedule?.timing.description ?? "",
            "operation": record.schedule?.template.operation ?? "–",
            "from": record.schedule?.origin.description ?? "–",
            "nexts": record.isPaused ? [] : record.nextTick.map { [moments.relative($0, "next tick")] } ?? [],
            "lasts": record.lastTick.map { [moments.relative($0, "last tick")] } ?? [],
            "lastJobs": lastJob.map { [["id": $0.id, "state": $0.state.rawValue, "error": $0.lastError ?? ""]] } ?? [],
            "neverTicked": record.lastTick == nil, "ticks": ticks.isEmpty ? [] : [["times": ticks]],
            "pushed": record.pushed.grouped, "missed": record.missed.grouped, "hasMissed": record.missed > 0,
            "ways": ways.map { ["way": $0.0, "title": $0.1] },
        ]
    }

    /// The coming ticks, beginning with the stored one.
    private var ticks: [[String: Any]] {
        guard !record.isPaused, let timing = record.schedule?.timing, let first = record.nextTick else { return [] }
        var ticks = [first]
        while ticks.count < Self.ticksShown, let last = ticks.last, let next = timing.next(after: last) {
            ticks.append(next)
        }
        return ticks.map(moments.exact)
    }
}

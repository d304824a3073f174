import Errand

/// Schedules: definitions and their side records.
extension QueueAudit {
    /// Scripts do not parse definitions, so the audit parses each page here, and confirms a problem in one script.
    mutating func walkSchedules() async throws(BrokerError) {
        // Reading a schedule reads all of these keys.
        if !keysAreCorrupt { try await walkDefinitions() }
        for step in ["timetable", "pauses", "ticks"] { _ = try await walk(step) }
        for generation in ["unscheduled", "unscheduled:old"] { _ = try await walk("deleted", generation) }
    }

    private var keysAreCorrupt: Bool {
        let corrupt = (reported["wrong_type"] ?? []).filter { !$0.repaired }.map(\.subject)
        let keys = ["schedules", "timetable", "pauses", "ticks", "unscheduled", "unscheduled:old"]
        return !Set(corrupt).isDisjoint(with: keys)
    }

    private mutating func walkDefinitions() async throws(BrokerError) {
        var position: String? = "0"
        var count = 20
        while let from = position {
            let page = try await step("schedules", "", from, String(count))
            take(page)
            let names = Array(page.list.dropFirst())
            try await judge(names)
            // A page has about 1 MiB at most.
            let bytes = page.list.first.flatMap { Int($0) } ?? 0
            count = min(Self.page, max(1, (1 << 20) / max(1, bytes / max(1, names.count))))
            position = page.next
        }
    }

    private mutating func judge(_ names: [String]) async throws(BrokerError) {
        let (now, records) = try await broker.schedules(named: names, on: queue)
        for record in records {
            if let schedule = record.schedule {
                try await judge(record, schedule, now: now)
            } else if !record.mayBeReadElsewhere {
                take(try await step("unreadable", record.name, record.digest))
            }
        }
    }

    private mutating func judge(_ record: ScheduleRecord, _ schedule: Schedule, now: Int64) async throws(BrokerError) {
        guard let next = schedule.timing.next(after: record.start(now: now)) else { return }
        guard record.lacksTick || (record.nextTick ?? 0) > next || record.hasOddTick else { return }
        take(try await step("tick", record.name, record.digest, String(next)))
    }
}

extension ScheduleRecord {
    /// A time that no script can represent is parsed as 0.
    fileprivate var hasOddTick: Bool { nextTick == 0 }
}

public import Errand

extension RedisBroker {
    /// Stores a schedule, after comparing it with the stored one. If another process changes it in the meantime,
    /// reads it again and compares once more.
    @discardableResult
    public func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome {
        let definition = schedule.encoded()
        while true {
            let (now, stored) = try await read(schedule.name, on: schedule.queue)
            let (verdict, next): (ScheduleOutcome, Int64?)
            switch try ScheduleChange(putting: schedule, over: stored, now: now) {
            case .nothing(let settled):
                if stored.isDeleted { try await remind(of: schedule) }
                return settled
            case .store(let change, let tick): (verdict, next) = (change, tick)
            }
            var call = ScriptCall(.schedule, on: schedule.queue)
            call.add(schedule.name)
            call.add(stored.digest)
            if let deleted = stored.deletedRevision { call.add(deleted) } else { call.add("") }
            call.add(stored.isPaused ? 1 : 0)
            call.add(definition)
            if let next { call.add(next) } else { call.add("") }
            switch try await run(call).text {
            case "stored":
                try await enter(schedule.queue)
                return verdict
            case "changed", "late": continue
            default: throw unexpected("the answer to a schedule")
            }
        }
    }

    /// Returns up to 100 schedules that are due by the server's clock.
    public func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules {
        var call = ScriptCall(.timetable, on: queue)
        call.add("due")
        call.add(max(0, count))
        let page = try await timetable(call)
        return DueSchedules(now: page.now, schedules: page.records)
    }

    /// Pushes the proposed jobs in one script, unless another process was first.
    public func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome {
        var call = ScriptCall(.tick, on: queue)
        call.add(proposal.schedule)
        call.add(proposal.digest)
        for time in [proposal.expected, proposal.ticks.last, proposal.next] {
            if let time { call.add(time) } else { call.add("") }
        }
        call.add(proposal.missed)
        call.add(proposal.waits ? "1" : "0")
        for job in proposal.jobs { call.add(job) }
        let answer = try await run(call).elements ?? []
        switch answer.first?.text {
        case "behind": return .behind
        case "early": return .early
        case "pushed" where answer.count == proposal.jobs.count + 1:
            return .pushed(
                try zip(proposal.jobs, answer.dropFirst()).map { job, verdict throws(BrokerError) in
                    guard let receipt = Receipt(verdict, job: job.id, queue: queue) else {
                        throw unexpected("a tick's receipt")
                    }
                    return receipt
                }
            )
        default: throw unexpected("the answer to a tick")
        }
    }

    /// Returns a page of a queue's schedules.
    public func schedules(on queue: String, from position: String?) async throws(BrokerError) -> SchedulePage {
        var call = ScriptCall(.timetable, on: queue)
        call.add("all")
        call.add(position ?? "0")
        let page = try await timetable(call)
        // While the server's hash table grows, a scan may return a name twice.
        var names: Set<String> = []
        return SchedulePage(records: page.records.filter { names.insert($0.name).inserted }, next: page.next)
    }

    /// Returns a schedule by its name; `nil` if there is none.
    public func schedule(_ name: String, on queue: String) async throws(BrokerError) -> ScheduleRecord? {
        let record = try await read(name, on: queue).record
        return record.definition.isEmpty ? nil : record
    }

    /// Deletes a schedule. A declaration with the same or a lower revision does not restore it.
    public func deleteSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await unschedule("delete", name, on: queue) { record, _ in Int64(record.schedule?.revision ?? 0) }
    }

    /// Pauses a schedule until it is resumed.
    public func pauseSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await unschedule("pause", name, on: queue) { _, _ in nil }
    }

    /// Resumes a paused schedule from now on.
    public func resumeSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await unschedule("resume", name, on: queue) { record, now throws(BrokerError) in
            guard let schedule = record.schedule else {
                throw BrokerError(.refused, record.problem?.description ?? "the definition cannot be read")
            }
            return try ScheduleChange.first(of: schedule, after: record.start(now: now))
        }
    }

    /// Pushes one job of a schedule at once; the ticks stay as they are.
    public func runSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Receipt? {
        while let record = try await schedule(name, on: queue) {
            guard let schedule = record.schedule else {
                throw BrokerError(.refused, record.problem?.description ?? "the definition cannot be read")
            }
            let proposal: TickProposal
            do { proposal = try TickProposal(byHand: record, schedule) } catch {
                throw BrokerError(.refused, "schedule \"\(name)\": \(error)")
            }
            if case .pushed(let receipts) = try await tick(proposal, on: queue) { return receipts.first }
        }
        return nil
    }
}

extension RedisBroker {
    private func unschedule(
        _ what: String,
        _ name: String,
        on queue: String,
        extra: (ScheduleRecord, Int64) throws(BrokerError) -> Int64?
    ) async throws(BrokerError) -> Bool {
        while true {
            let (now, record) = try await read(name, on: queue)
            if record.definition.isEmpty { return false }
            var call = ScriptCall(.unschedule, on: queue)
            call.add(what)
            call.add(name)
            call.add(record.digest)
            if let extra = try extra(record, now) { call.add(extra) }
            switch try await run(call).text {
            case "done": return true
            case "changed", "late": continue
            default: throw unexpected("the answer to a schedule")
            }
        }
    }

    /// Records that a program still declares a deleted schedule.
    private func remind(of schedule: Schedule) async throws(BrokerError) {
        var call = ScriptCall(.unschedule, on: schedule.queue)
        call.add("remind")
        call.add(schedule.name)
        call.add("")
        call.add(schedule.origin.catalogue ?? "")
        _ = try await run(call)
    }

    /// Returns the deleted schedules of a queue that programs still declare, sorted by name.
    package func declaredDeletedSchedules(on queue: String) async throws(BrokerError) -> [ScheduleRecord] {
        var records: [String: ScheduleRecord] = [:]
        for generation in ["unscheduled", "unscheduled:old"] {
            var position: String? = "0"
            while let from = position {
                var call = ScriptCall(.timetable, on: queue)
                call.add("deleted")
                call.add(from)
                call.add(generation)
                let page = try await timetable(call)
                for record in page.records where record.isDeleted { records[record.name] = record }
                position = page.next
            }
        }
        return records.values.sorted { $0.name < $1.name }
    }

    /// Records that no program declares a deleted schedule any longer.
    package func withdrawDeletedSchedule(_ name: String, on queue: String) async throws(BrokerError) {
        var call = ScriptCall(.unschedule, on: queue)
        call.add("withdraw")
        call.add(name)
        call.add("")
        _ = try await run(call)
    }

    /// Reads schedules by their names, in one script, or a few if they are large, and the server's time.
    func schedules(
        named names: [String],
        on queue: String
    ) async throws(BrokerError) -> (now: Int64, records: [ScheduleRecord]) {
        var (now, records): (Int64, [ScheduleRecord]) = (0, [])
        while records.count < names.count {
            var call = ScriptCall(.timetable, on: queue)
            call.add("named")
            for name in names[records.count...].prefix(100) { call.add(name) }
            let page = try await timetable(call)
            guard !page.records.isEmpty else { throw unexpected("no schedule for a name") }
            now = page.now
            records += page.records
        }
        return (now, records)
    }

    private func read(
        _ name: String,
        on queue: String
    ) async throws(BrokerError) -> (now: Int64, record: ScheduleRecord) {
        let (now, records) = try await schedules(named: [name], on: queue)
        guard let record = records.first else { throw unexpected("no schedule for a name") }
        return (now, record)
    }

    private func timetable(_ call: ScriptCall) async throws(BrokerError) -> TimetablePage {
        guard let page = TimetablePage(try await run(call)) else { throw unexpected("a timetable") }
        return page
    }
}

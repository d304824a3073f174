/// Schedules: stored by name, and pushed tick by tick.
extension MemoryQueue {
    static let mostSchedules = 10_000

    func record(ofSchedule name: String) -> ScheduleRecord {
        let stored = schedules[name]
        return ScheduleRecord(
            name: name,
            definition: stored?.definition ?? [],
            nextTick: stored?.nextTick,
            isPaused: stored?.isPaused ?? false,
            lastTick: stored?.lastTick,
            pushed: stored?.pushed ?? 0,
            missed: stored?.missed ?? 0,
            deletedRevision: unscheduled.revision(of: name)
        )
    }

    private static let schedulesAPage = 100

    /// Returns a page of schedules by name; the position is the last name of the previous page.
    func scheduleRecords(after position: String?) -> SchedulePage {
        let left = schedules.keys.filter { name in position.map { $0 < name } ?? true }.sorted()
        let names = left.prefix(Self.schedulesAPage)
        return SchedulePage(
            records: names.map { record(ofSchedule: $0) },
            next: names.count < left.count ? names.last : nil
        )
    }

    func dueSchedules(skipping count: Int) -> DueSchedules {
        let due = schedules.filter { $0.value.nextTick.map { $0 <= now } ?? false }
        let names = due.sorted { ($0.value.nextTick ?? 0, $0.key) < ($1.value.nextTick ?? 0, $1.key) }.map(\.key)
        return DueSchedules(
            now: now,
            schedules: names.dropFirst(max(count, 0)).prefix(100).map { record(ofSchedule: $0) }
        )
    }

    mutating func put(_ schedule: Schedule) throws(BrokerError) -> ScheduleOutcome {
        let stored = record(ofSchedule: schedule.name)
        switch try ScheduleChange(putting: schedule, over: stored, now: now) {
        case .nothing(let outcome):
            if stored.isDeleted { unscheduled.remind(of: schedule.name) }
            return outcome
        case .store(let outcome, let next):
            guard schedules[schedule.name] != nil || schedules.count < Self.mostSchedules else {
                throw BrokerError(
                    .full,
                    "the queue has \(Self.mostSchedules) schedules, which is the limit; delete one first"
                )
            }
            schedules[schedule.name, default: MemorySchedule(definition: [])].definition = schedule.encoded()
            if let next {
                schedules[schedule.name]?.nextTick = next
                schedules[schedule.name]?.isPaused = false
            }
            unscheduled.forget(schedule.name)
            return outcome
        }
    }

    mutating func tick(_ proposal: TickProposal) throws(BrokerError) -> TickOutcome {
        guard proposal.jobs.count <= TickProposal.mostJobs else {
            throw BrokerError(.refused, "a tick has at most \(TickProposal.mostJobs) jobs")
        }
        guard let stored = schedules[proposal.schedule], Schedule.digest(of: stored.definition) == proposal.digest
        else {
            return .behind
        }
        guard let expected = proposal.expected else {
            return .pushed(try pushJobs(proposal.jobs, waiting: proposal.waits))
        }
        guard stored.nextTick == expected else { return .behind }
        guard max(expected, proposal.ticks.last ?? 0) <= now else { return .early }
        if let next = proposal.next, next <= max(expected, proposal.ticks.last ?? 0) {
            throw BrokerError(.refused, "the next tick must come after those that are pushed")
        }
        let receipts = try pushJobs(proposal.jobs, waiting: proposal.waits)
        schedules[proposal.schedule]?.nextTick = proposal.next
        if let last = proposal.ticks.last { schedules[proposal.schedule]?.lastTick = last }
        schedules[proposal.schedule]?.pushed += proposal.jobs.count
        schedules[proposal.schedule]?.missed += proposal.missed
        return .pushed(receipts)
    }

    mutating func deleteSchedule(_ name: String) -> Bool {
        guard let old = schedules.removeValue(forKey: name) else { return false }
        unscheduled.remember(name, revision: (try? Schedule(json: old.definition))?.revision ?? 0)
        return true
    }

    mutating func pauseSchedule(_ name: String) -> Bool {
        guard schedules[name] != nil else { return false }
        schedules[name]?.nextTick = nil
        schedules[name]?.isPaused = true
        return true
    }

    mutating func resumeSchedule(_ name: String) throws(BrokerError) -> Bool {
        let record = record(ofSchedule: name)
        guard let schedule = record.schedule else { return false }
        let next = try ScheduleChange.first(of: schedule, after: record.start(now: now))
        if record.nextTick == nil { schedules[name]?.nextTick = next }
        schedules[name]?.isPaused = false
        return true
    }

    mutating func runSchedule(_ name: String) throws(BrokerError) -> Receipt? {
        let record = record(ofSchedule: name)
        guard let schedule = record.schedule else { return nil }
        let proposal: TickProposal
        do { proposal = try TickProposal(byHand: record, schedule) } catch {
            throw BrokerError(.refused, "schedule \"\(name)\": \(error)")
        }
        guard case .pushed(let receipts) = try tick(proposal) else { return nil }
        return receipts.first
    }
}

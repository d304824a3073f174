import Errand
import Foundation

/// The properties of schedules: of stored definitions in JSON, and of texts that a person writes.
///
/// An input that begins with a brace is a definition. Any other one has lines: a cron expression or `every` with an
/// interval and an anchor, both in milliseconds; then a time zone, a time, and the delay until the next check, in
/// milliseconds, too. Missing lines are derived from the input.
@Sendable func checkSchedules(_ input: [UInt8]) throws(Violation) {
    let seed = hash(input)
    let time = Int64(seed % 10_000_000_000_000)
    if input.first == UInt8(ascii: "{") { return try checkDefinition(input, around: time) }
    guard let text = String(validating: input, as: UTF8.self) else { return }
    let lines = text.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    func number(_ index: Int) -> Int64? { index < lines.count ? Int64(lines[index]) : nil }
    let timing = try requireBounded("reading \(lines[0].debugDescription)") { () throws(Violation) in
        try read(lines[0], zone: lines.count > 1 ? lines[1] : "UTC")
    }
    guard let timing else { return }
    try checkTiming(timing, around: number(2) ?? time)
    let late = max(0, number(3) ?? Int64(seed % 30_000)) % 1_000_000_000
    try checkPlan(of: schedule(timing, seed), around: number(2) ?? time, late: late, extremes: seed % 256 == 0)
}

private func read(_ line: String, zone: String) throws(Violation) -> ScheduleTiming? {
    let words = line.split(separator: " ")
    do throws(ScheduleError) {
        guard words.first == "every" else { return try .cron(line, timeZone: zone) }
        let numbers = words.dropFirst().map { Int64($0) ?? 0 } + [0, 0]
        return try .every(.milliseconds(numbers[0]), anchor: numbers[1])
    } catch {
        try requireDecent("\(error)")
        return nil
    }
}

private func schedule(_ timing: ScheduleTiming, _ seed: UInt64) throws(Violation) -> Schedule {
    let catchUp: Schedule.CatchUp = [.none, .latest, .all(limit: Int((seed >> 8) % 4) + 1)][Int((seed >> 16) % 3)]
    let overlap = Schedule.Overlap.allCases[Int((seed >> 24) % 4)]
    return try require("a schedule with this timing is refused") {
        let template = try OperationDescription("work", queue: "reports")
        return try Schedule("nightly", timing, pushing: template, catchUp: catchUp, overlap: overlap)
    }
}

private func checkDefinition(_ input: [UInt8], around time: Int64) throws(Violation) {
    let schedule: Schedule
    do { schedule = try Schedule(json: input) } catch {
        try requireDecent("\(error)")
        let stored = ScheduleRecord(name: "nightly", definition: input, nextTick: 0)
        return try require(
            stored.schedule == nil && stored.problem == error,
            "a record is read that other parsers reject"
        )
    }
    try require(isToken(schedule.name), "the name \(schedule.name.debugDescription)")
    try require(schedule.queue == schedule.template.queue, "two queues")
    try require((0...1_000_000_000_000).contains(schedule.revision), "the revision \(schedule.revision)")
    try require(schedule.template.id == nil && schedule.template.notBefore == nil, "each tick would be the same job")
    if case .all(let limit) = schedule.catchUp { try require((1...1000).contains(limit), "a limit of \(limit)") }
    try requireRules(schedule.template)
    let written = schedule.encoded()
    let again = try require("what was written cannot be read") { try Schedule(json: written) }
    try require(again == schedule, "what was written and read again differs")
    try require(again.encoded() == written, "the same schedule is written in two ways")
    try checkTiming(schedule.timing, around: time)
    try checkPlan(of: schedule, around: time, late: time % 30_000, extremes: time % 256 == 0)
}

/// Late ticks: all ticks are counted, and none is pushed early or twice.
private func checkPlan(of schedule: Schedule, around time: Int64, late: Int64, extremes: Bool) throws(Violation) {
    let ticks = ticks(of: schedule.timing, after: time, 4)
    if let first = ticks.first, let last = ticks.last {
        let now = min(last + late, schedule.timing.next(after: last).map { $0 - 1 } ?? last)
        guard let plan = try proposal(schedule, expected: first, now: now) else { return }
        let timely = ticks.filter { $0 >= now - 10_000 }.count
        let most: Int
        switch schedule.catchUp {
        case .none: most = 0
        case .latest: most = 1
        case .all(let limit): most = limit
        }
        let pushed = min(ticks.count, timely + most)
        try require(plan.ticks == ticks.suffix(pushed), "\(plan.ticks) is pushed of \(ticks) at \(now)")
        try require(plan.missed == ticks.count - pushed, "\(plan.missed) is missed of \(ticks) at \(now)")
        try require(plan.next == schedule.timing.next(after: now), "another next tick")
    }
    // Values of a corrupt timetable. This is slower, so few inputs get here.
    guard extremes else { return }
    for (expected, now) in [(.min, 0), (0, .max), (.max, .min), (.min, .max), (0, 1_800_000_000_000)]
        as [(Int64, Int64)]
    {
        _ = try proposal(schedule, expected: expected, now: now)
    }
}

/// A stored schedule can be evaluated with any timetable.
func checkRecord(_ record: ScheduleRecord, now: Int64) throws(Violation) {
    try require(record.pushed >= 0 && record.missed >= 0, "a record that cannot be")
    if let problem = record.problem { try requireDecent("\(problem)") }
    if let schedule = record.schedule {
        _ = try ticking(record, schedule, now: now)
        if let change = try? ScheduleChange(putting: schedule, over: record, now: now) {
            if case .store(_, let next?) = change { try require(next > now, "a schedule starts in the past") }
        }
    }
}

private func proposal(_ schedule: Schedule, expected: Int64, now: Int64) throws(Violation) -> TickProposal? {
    try ticking(
        ScheduleRecord(name: schedule.name, definition: schedule.encoded(), nextTick: expected),
        schedule,
        now: now
    )
}

private func ticking(_ record: ScheduleRecord, _ schedule: Schedule, now: Int64) throws(Violation) -> TickProposal? {
    let proposal: TickProposal
    do { proposal = try TickProposal(record, schedule, now: now) } catch {
        // The largest template has no room for the additions of a tick.
        try requireDecent("\(error)")
        try require(error.code == .tooLarge, "a tick makes no job: \(error)")
        return nil
    }
    try require((0...1000).contains(proposal.missed), "\(proposal.missed) are missed")
    try require(proposal.jobs.count == proposal.ticks.count, "\(proposal.jobs.count) jobs")
    try require(Set(proposal.jobs.map(\.id)).count == proposal.jobs.count, "two ticks are one job")
    if let job = proposal.jobs.first {
        let stored = try require("no worker can read the job") {
            try JobEnvelope.read(stored: job.stored(readySince: 0))
        }
        try require(stored.description.id == job.id && isID(job.id), "the id \(job.id)")
        let tick = String(proposal.ticks.first ?? -1)
        let meta = stored.description.meta
        try require(meta["schedule"] == schedule.name && meta["tick_ms"] == tick, "meta: \(meta)")
        try require(stored.description.operation == schedule.template.operation, "another operation")
        try require(stored.description.arguments == schedule.template.arguments, "other arguments")
    }
    return proposal
}

/// FNV-1a, so that the same input always gives the same result.
private func hash(_ input: [UInt8]) -> UInt64 {
    input.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}

import Errand
import Foundation

/// The properties of the ticks of a timing, near a time and at the limits.
func checkTiming(_ timing: ScheduleTiming, around time: Int64) throws(Violation) {
    let ticks = try requireBounded("the ticks of \(timing) around \(time)") { () throws(Violation) in
        let ticks = FuzzTargets.ticks(of: timing, after: time, most)
        try checkOrder(of: ticks, timing, after: time)
        try checkEnds(of: timing)
        return ticks
    }
    // For display: `30 2 * * * (Europe/Berlin)`.
    let text = timing.description
    guard text.hasSuffix(" (\(timing.timeZone))") else { return try checkInterval(timing, ticks) }
    let expression = String(text.dropLast(timing.timeZone.count + 3))
    let clock = try Clock(expression, timing.timeZone)
    for tick in ticks { try clock.requireTick(tick, of: timing) }
    for (tick, next) in zip(ticks, ticks.dropFirst()) { try clock.requireNone(after: tick, before: next, of: timing) }
    try checkWrittenOut(clock.cron.writtenOut, timing, after: time, ticks)
}

/// The next ticks.
func ticks(of timing: ScheduleTiming, after time: Int64, _ most: Int) -> [Int64] {
    var ticks: [Int64] = []
    while ticks.count < most, let tick = timing.next(after: ticks.last ?? time) { ticks.append(tick) }
    return ticks
}

/// The number of ticks to check.
private let most = 4

private let times: ClosedRange<Int64> = 0...9_999_999_999_999

private func checkOrder(of ticks: [Int64], _ timing: ScheduleTiming, after time: Int64) throws(Violation) {
    var previous = time
    for tick in ticks {
        try require(times.contains(tick) && tick > previous, "\(timing): \(tick) is next after \(previous)")
        try require(timing.latest(atOrBefore: tick) == tick, "\(timing): \(tick) is no tick seen from itself")
        let before = timing.latest(atOrBefore: tick - 1)
        let isRight = previous == time ? before ?? -1 <= max(time, -1) : before == previous
        try require(isRight, "\(timing): \(before ?? -1) is between \(previous) and \(tick)")
        // From times in between, and from a repeated hour, the result is the same.
        for between in [previous / 2 + tick / 2, previous + 2_400_000]
        where previous > time && (previous..<tick).contains(between) {
            let (last, next) = (timing.latest(atOrBefore: between), timing.next(after: between))
            try require(last == previous && next == tick, "\(timing): at \(between), \(last ?? -1) and \(next ?? -1)")
        }
        previous = tick
    }
    if ticks.count < most {
        let (last, known) = (timing.latest(atOrBefore: times.upperBound) ?? -1, max(ticks.last ?? time, -1))
        try require(last <= known, "\(timing): there is \(last) after \(known)")
    }
}

private func checkEnds(of timing: ScheduleTiming) throws(Violation) {
    let first = timing.next(after: .min)
    let last = timing.latest(atOrBefore: .max)
    try require(first != nil && first == timing.next(after: -1), "\(timing) never begins")
    try require(first ?? 0 <= last ?? -1, "\(timing) ends at \(last ?? -1) before it begins")
    try require(timing.latest(atOrBefore: (first ?? 0) - 1) == nil, "\(timing) ticks before its first tick")
    try require(timing.next(after: last ?? 0) == nil && timing.next(after: .max) == nil, "\(timing) never ends")
    try require(timing.latest(atOrBefore: .min) == nil, "\(timing) ticks before 1970")
    for time in [Int64.min, -1, 0, last ?? 0, .max] { try requireDecent(timing.localText(time)) }
}

private func checkInterval(_ timing: ScheduleTiming, _ ticks: [Int64]) throws(Violation) {
    let gaps = Set(zip(ticks, ticks.dropFirst()).map { $1 - $0 })
    try require(gaps.count <= 1 && gaps.allSatisfy { (1000...315_360_000_000).contains($0) }, "\(timing): gaps \(gaps)")
    if let tick = ticks.first, let anchor = Int64(timing.description.split(separator: " ").last ?? ""),
        let gap = gaps.first
    {
        try require((tick - anchor) % gap == 0, "\(timing): \(tick) is off")
    }
}

/// An equivalent expression has the same ticks.
private func checkWrittenOut(
    _ expression: String,
    _ timing: ScheduleTiming,
    after time: Int64,
    _ ticks: [Int64]
) throws(Violation) {
    // The length of an expression is limited, and lists are long.
    guard expression.utf8.count <= 256 else { return }
    let again = try require("\(timing) is refused as \(expression.debugDescription)") {
        try ScheduleTiming.cron(expression, timeZone: timing.timeZone)
    }
    let found = FuzzTargets.ticks(of: again, after: time, 2)
    try require(found == Array(ticks.prefix(2)), "\(timing) ticks at \(ticks), and at \(found) as \(expression)")
}

/// The value of a body, which must be fast for every expression.
func requireBounded<Value>(
    _ what: @autoclosure () -> String,
    _ body: () throws(Violation) -> Value
) throws(Violation) -> Value {
    let began = processorTime()
    let value = try body()
    // Far more than it takes on any machine, and far less than an unbounded search.
    let took = processorTime() - began
    try require(took < 1, "\(what()) take \(took) s")
    return value
}

/// The processor time of this thread in seconds.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// A cron expression in a zone, evaluated for single moments, in seconds.
private struct Clock {
    let cron: PlainCron
    private let zone: TimeZone?

    init(_ expression: String, _ zone: String) throws(Violation) {
        cron = try PlainCron(expression)
        let isUTC = ["UTC", "Etc/UTC"].contains(zone)
        self.zone = isUTC ? nil : TimeZone(identifier: zone)
        try require(isUTC || self.zone != nil, "the zone \(zone.debugDescription)")
    }

    private func offset(_ time: Int64) -> Int64 {
        zone.map { Int64($0.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))) } ?? 0
    }

    /// Whether the local time at the moment matches, or the clocks are set forward past a matching time.
    func requireTick(_ tick: Int64, of timing: ScheduleTiming) throws(Violation) {
        let (time, ahead) = (tick / 1000, offset(tick / 1000))
        try require(tick % 1000 == 0, "\(timing): \(tick) is no whole second")
        if cron.means(time + ahead) {
            return try require(cron.isOfEveryHour || !isRepeated(time), "\(timing): \(tick) comes for the second time")
        }
        let jumped = time + offset(time - 1)..<time + max(ahead, offset(time - 1))
        try require(!cron.isOfEveryHour && jumped.contains(where: cron.means), "\(timing): \(tick) is not meant")
        try require(jumped.count <= 86_400, "\(timing): the clocks are set forward by \(jumped.count) s")
    }

    /// Whether the clocks have shown the same time within the day before.
    private func isRepeated(_ time: Int64) -> Bool {
        let shown = time + offset(time)
        return [1800, 7200, 43_200, 86_400].contains { (back: Int64) in
            let earlier = shown - offset(time - back)
            return earlier < time && earlier + offset(earlier) == shown
        }
    }

    /// Checks the moments at which a tick is most easily missed.
    func requireNone(after tick: Int64, before next: Int64, of timing: ScheduleTiming) throws(Violation) {
        let (minute, hour, day): (Int64, Int64, Int64) = (60, 3600, 86_400)
        for ahead in [1, minute, hour, day, 2 * day, 7 * day, 28 * day, 30 * day, 365 * day, 1461 * day] {
            let time = tick / 1000 + ahead
            guard time < next / 1000 else { return }
            guard cron.means(time + offset(time)) else { continue }
            try require(!cron.isOfEveryHour && isRepeated(time), "\(timing): \(time * 1000) is forgotten after \(tick)")
        }
    }
}

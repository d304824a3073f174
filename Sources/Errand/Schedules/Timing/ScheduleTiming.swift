import ErrandText

/// When a schedule ticks: by a cron expression in a time zone, or every so often.
///
/// Every process computes the same ticks from it, so that nobody needs to keep count.
///
/// ```swift
/// let nightly = try ScheduleTiming.cron("30 2 * * *", timeZone: "Europe/Berlin")
/// let often = try ScheduleTiming.every(.seconds(90))
/// ```
public struct ScheduleTiming: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case cron(ZonedCron)
        case every(milliseconds: Int64, anchor: Int64)
    }

    let kind: Kind

    /// The times that a tick can have, in milliseconds since 1970 UTC.
    static let times = DescriptionLimits.notBeforeMilliseconds
    /// Shortest and longest interval: 1 s to 10 years.
    static let intervals: ClosedRange<Int64> = 1000...315_360_000_000

    /// The nearest time that a tick can have.
    static func clamped(_ time: Int64) -> Int64 { min(max(time, times.lowerBound), times.upperBound) }

    /// Ticks by a cron expression.
    ///
    /// Five fields (minute, hour, day of month, month, day of week), or six with the second first; lists, ranges, steps,
    /// names, `L` for the last day of the month, and `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
    /// `docs/schedules.md` says it all, and what happens when clocks are changed.
    ///
    /// - Parameters:
    ///   - expression: five fields, or a name such as `@daily`.
    ///   - timeZone: a name that the system's time zone database has, such as `Europe/Berlin`, or `UTC`, which needs no
    ///     database.
    /// - Throws: ``ScheduleError`` naming the field and the value that are wrong, also for what never happens.
    public static func cron(_ expression: String, timeZone: String = "UTC") throws(ScheduleError) -> ScheduleTiming {
        ScheduleTiming(kind: .cron(try ZonedCron(expression, ScheduleZone(timeZone))))
    }

    /// Ticks every so often: at all multiples of `interval`, counted from `anchor`.
    ///
    /// - Parameters:
    ///   - interval: 1 s to 10 years, in whole milliseconds.
    ///   - anchor: milliseconds since 1970 UTC, 0 to 9,999,999,999,999; ticks before it count as well.
    /// - Throws: ``ScheduleError`` when one of them is out of range.
    public static func every(_ interval: Duration, anchor: Int64 = 0) throws(ScheduleError) -> ScheduleTiming {
        let (seconds, attoseconds) = interval.components
        guard (0...intervals.upperBound / 1000).contains(seconds), attoseconds % 1_000_000_000_000_000 == 0,
            intervals.contains(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        else { throw ScheduleError(.invalid, "every", "must be 1 s to 3650 days, in whole milliseconds") }
        guard times.contains(anchor) else {
            throw ScheduleError(.invalid, "anchor_ms", "must be milliseconds since 1970, 0 to 9999999999999")
        }
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        return ScheduleTiming(kind: .every(milliseconds: milliseconds, anchor: anchor))
    }

    /// The first tick after a time, both in milliseconds since 1970 UTC; `nil` when there is none before the year 2286.
    public func next(after time: Int64) -> Int64? {
        let time = min(max(time, -1), Self.times.upperBound)
        let tick: Int64?
        switch kind {
        case .cron(let cron): tick = cron.next(after: time.floored(by: 1000)).map { $0 * 1000 }
        case .every(let interval, let anchor):
            tick = anchor + ((time - anchor).floored(by: interval) + 1) * interval
        }
        return tick.flatMap { Self.times.contains($0) ? $0 : nil }
    }

    /// The last tick up to a time, both in milliseconds since 1970 UTC; `nil` when there was none since 1970.
    public func latest(atOrBefore time: Int64) -> Int64? {
        guard time >= 0 else { return nil }
        let time = min(time, Self.times.upperBound)
        let tick: Int64?
        switch kind {
        case .cron(let cron): tick = cron.latest(atOrBefore: time / 1000).map { $0 * 1000 }
        case .every(let interval, let anchor): tick = anchor + (time - anchor).floored(by: interval) * interval
        }
        return tick.flatMap { Self.times.contains($0) ? $0 : nil }
    }

    /// The interval in milliseconds; `nil` for a cron expression.
    package var interval: Int64? {
        if case .every(let milliseconds, _) = kind { milliseconds } else { nil }
    }

    /// The time zone's name; `UTC` for intervals.
    public var timeZone: String {
        if case .cron(let cron) = kind { cron.zone.identifier } else { "UTC" }
    }
}

extension ScheduleTiming: CustomStringConvertible {
    /// For people: `30 2 * * * (Europe/Berlin)`, `every 90s`.
    public var description: String {
        switch kind {
        case .cron(let cron): "\(cron.text) (\(cron.zone.identifier))"
        case .every(let milliseconds, let anchor):
            "every \(DurationText.format(.milliseconds(milliseconds)))"
                + (anchor == 0 ? "" : " from \(localText(anchor))")
        }
    }
}

import ErrandText

/// When a schedule ticks: by a cron expression in a time zone, or at intervals.
///
/// Every process computes the same ticks from it.
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

    /// The valid times of ticks, in milliseconds since 1970 UTC.
    static let times = DescriptionLimits.notBeforeMilliseconds
    /// The valid intervals in milliseconds: 1 s to 10 years.
    static let intervals: ClosedRange<Int64> = 1000...315_360_000_000

    /// Returns the nearest valid time of a tick.
    static func clamped(_ time: Int64) -> Int64 { min(max(time, times.lowerBound), times.upperBound) }

    /// Ticks by a cron expression.
    ///
    /// An expression has five fields (minute, hour, day of month, month, day of week), or six with the second first. It
    /// may contain lists, ranges, steps, names, and `L` for the last day of the month, or be `@hourly`, `@daily`,
    /// `@weekly`, `@monthly` or `@yearly`. `docs/schedules.md` has the complete syntax, and describes changes of
    /// clocks.
    ///
    /// - Parameters:
    ///   - expression: five or six fields, or a name such as `@daily`.
    ///   - timeZone: a name of the system's time zone database, such as `Europe/Berlin`, or `UTC`, which needs no
    ///     database.
    /// - Throws: ``ScheduleError`` with the invalid field and value, also for an expression that never matches.
    public static func cron(_ expression: String, timeZone: String = "UTC") throws(ScheduleError) -> ScheduleTiming {
        ScheduleTiming(kind: .cron(try ZonedCron(expression, ScheduleZone(timeZone))))
    }

    /// Ticks at intervals: at all multiples of `interval`, counted from `anchor`.
    ///
    /// - Parameters:
    ///   - interval: 1 s to 10 years, in whole milliseconds.
    ///   - anchor: milliseconds since 1970 UTC, 0 to 9,999,999,999,999; there are ticks before it, too.
    /// - Throws: ``ScheduleError`` if a value is out of range.
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

    /// Returns the first tick after a time, both in milliseconds since 1970 UTC; `nil` if there is none before the year
    /// 2286.
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

    /// Returns the last tick up to a time, both in milliseconds since 1970 UTC; `nil` if there is none since 1970.
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

    /// The name of the time zone; `UTC` for intervals.
    public var timeZone: String {
        if case .cron(let cron) = kind { cron.zone.identifier } else { "UTC" }
    }
}

extension ScheduleTiming: CustomStringConvertible {
    /// The timing for people: `30 2 * * * (Europe/Berlin)`, `every 90s`.
    public var description: String {
        switch kind {
        case .cron(let cron): "\(cron.text) (\(cron.zone.identifier))"
        case .every(let milliseconds, let anchor):
            "every \(DurationText.format(.milliseconds(milliseconds)))"
                + (anchor == 0 ? "" : " from \(localText(anchor))")
        }
    }
}

/// Common cron expressions by name, spelled as in swift-jobs. The default time zone is UTC, not the machine's.
///
/// ```swift
/// let timings = [
///     try ScheduleTiming.hourly(minute: 10),
///     try .daily(hour: 2, minute: 30, timeZone: "Europe/Berlin"),
///     try .weekly(day: .sunday, hour: 4),
///     try .onDays([.monday, .thursday], hour: 9),
///     try .monthly(date: 1),
///     try .yearly(month: .december, date: 24, hour: 18),
/// ]
/// ```
///
/// Each of them returns what ``cron(_:timeZone:)`` makes of the expression, so changes of clocks are treated as in
/// `docs/schedules.md`, and throws a ``ScheduleError`` with the field if a number is out of range.
extension ScheduleTiming {
    /// A day of the week.
    public enum Day: String, Sendable, Hashable, CaseIterable {
        /// Sunday.
        case sunday = "sun"
        /// Monday.
        case monday = "mon"
        /// Tuesday.
        case tuesday = "tue"
        /// Wednesday.
        case wednesday = "wed"
        /// Thursday.
        case thursday = "thu"
        /// Friday.
        case friday = "fri"
        /// Saturday.
        case saturday = "sat"
    }

    /// A month.
    public enum Month: String, Sendable, Hashable, CaseIterable {
        /// January.
        case january = "jan"
        /// February.
        case february = "feb"
        /// March.
        case march = "mar"
        /// April.
        case april = "apr"
        /// May.
        case may = "may"
        /// June.
        case june = "jun"
        /// July.
        case july = "jul"
        /// August.
        case august = "aug"
        /// September.
        case september = "sep"
        /// October.
        case october = "oct"
        /// November.
        case november = "nov"
        /// December.
        case december = "dec"
    }

    /// Ticks by a cron expression: the same as ``cron(_:timeZone:)``.
    public static func crontab(_ expression: String, timeZone: String = "UTC") throws(ScheduleError) -> ScheduleTiming {
        try cron(expression, timeZone: timeZone)
    }

    /// Ticks every minute, at a second from 0 to 59.
    public static func everyMinute(second: Int = 0) throws(ScheduleError) -> ScheduleTiming {
        try cron("\(second) * * * * *")
    }

    /// Ticks every hour, at a minute from 0 to 59.
    public static func hourly(minute: Int = 0) throws(ScheduleError) -> ScheduleTiming {
        try cron("\(minute) * * * *")
    }

    /// Ticks every day, at an hour from 0 to 23 in a time zone.
    public static func daily(
        hour: Int,
        minute: Int = 0,
        timeZone: String = "UTC"
    ) throws(ScheduleError) -> ScheduleTiming {
        try cron("\(minute) \(hour) * * *", timeZone: timeZone)
    }

    /// Ticks every week, at an hour from 0 to 23 in a time zone.
    public static func weekly(
        day: Day,
        hour: Int = 0,
        minute: Int = 0,
        timeZone: String = "UTC"
    ) throws(ScheduleError) -> ScheduleTiming {
        try onDays([day], hour: hour, minute: minute, timeZone: timeZone)
    }

    /// Ticks on some days of the week, at least one, at an hour from 0 to 23 in a time zone.
    public static func onDays(
        _ days: Set<Day>,
        hour: Int = 0,
        minute: Int = 0,
        timeZone: String = "UTC"
    ) throws(ScheduleError) -> ScheduleTiming {
        let names = Day.allCases.filter { days.contains($0) }.map(\.rawValue).joined(separator: ",")
        guard !names.isEmpty else { throw ScheduleError(.invalid, "days", "must be at least one day of the week") }
        return try cron("\(minute) \(hour) * * \(names)", timeZone: timeZone)
    }

    /// Ticks every month that has this date, 1 to 31, at an hour from 0 to 23 in a time zone.
    ///
    /// For the last day of every month, use `.cron("0 0 L * *")`.
    public static func monthly(
        date: Int,
        hour: Int = 0,
        minute: Int = 0,
        timeZone: String = "UTC"
    ) throws(ScheduleError) -> ScheduleTiming {
        try cron("\(minute) \(hour) \(date) * *", timeZone: timeZone)
    }

    /// Ticks every year that has this date, at an hour from 0 to 23 in a time zone.
    public static func yearly(
        month: Month,
        date: Int,
        hour: Int = 0,
        minute: Int = 0,
        timeZone: String = "UTC"
    ) throws(ScheduleError) -> ScheduleTiming {
        try cron("\(minute) \(hour) \(date) \(month.rawValue) *", timeZone: timeZone)
    }
}

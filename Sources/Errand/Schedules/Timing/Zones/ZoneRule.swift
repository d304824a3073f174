/// The rule at the end of a zone's file for the time after its last change: a POSIX `TZ` string such as
/// `CET-1CEST,M3.5.0,M10.5.0/3`. Offsets are in seconds east of UTC.
struct ZoneRule: Sendable, Equatable {
    /// The offset in standard time.
    let standard: Int64
    /// Daylight saving time, if the zone has it.
    let daylight: Daylight?

    struct Daylight: Sendable, Equatable {
        let offset: Int64
        /// When it begins, in standard time.
        let start: YearlyChange
        /// When it ends, in daylight saving time.
        let end: YearlyChange
    }

    /// Returns the offset at a time in seconds since 1970 UTC.
    func offset(at seconds: Int64) -> Int64 {
        guard let daylight else { return standard }
        let year = CivilDay(number: (seconds + standard).floored(by: CivilDay.seconds)).year
        var latest: (time: Int64, offset: Int64) = (.min, standard)
        // A change may be some days before or after its year. If one year's end coincides with the next one's start,
        // the start applies: rules express permanent daylight saving time that way.
        for year in (year - 1)...(year + 1) {
            for change in [
                (time: daylight.end.local(in: year) - daylight.offset, offset: standard),
                (time: daylight.start.local(in: year) - standard, offset: daylight.offset),
            ] where change.time <= seconds && change.time >= latest.time { latest = change }
        }
        return latest.offset
    }
}

/// A day of every year and a time of that day at which the clocks change.
struct YearlyChange: Sendable, Equatable {
    enum Day: Sendable, Equatable {
        /// `Jn`: 1 to 365, without 29 February.
        case ofCommonYear(Int64)
        /// `n`: 0 to 365.
        case ofYear(Int64)
        /// `Mm.w.d`: a week from 1 to 5, where 5 is the last, and a day of the week from 0 for Sunday.
        case ofWeek(month: Int64, week: Int64, weekday: Int64)
    }

    let day: Day
    /// Seconds after midnight, up to a week; may be negative.
    let time: Int64

    /// Returns the time of the change in a year, in seconds since 1970 as the zone's clocks show them.
    func local(in year: Int64) -> Int64 { dayNumber(in: year) * CivilDay.seconds + time }

    private func dayNumber(in year: Int64) -> Int64 {
        let newYear = CivilDay(year: year, month: 1, day: 1)
        switch day {
        case .ofYear(let day): return newYear.number + day
        case .ofCommonYear(let day):
            let isAfterLeapDay = day >= 60 && CivilDay(year: year, month: 2, day: 1).daysInMonth == 29
            return newYear.number + day - (isAfterLeapDay ? 0 : 1)
        case .ofWeek(let month, let week, let weekday):
            let first = CivilDay(year: year, month: month, day: 1)
            let day = (weekday - first.weekday + 7) % 7 + (week - 1) * 7
            return first.number + (day < first.daysInMonth ? day : day - 7)
        }
    }
}

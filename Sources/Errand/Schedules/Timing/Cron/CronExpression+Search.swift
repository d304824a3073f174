/// Searches for the next or the last local time, in seconds since 1970 as the zone's clocks show them.
///
/// It proceeds day by day, skips whole months that do not match, and covers at most 50 years: the days of every valid
/// expression occur more often.
extension CronExpression {
    private static let longestSearch: Int64 = 50 * 366

    /// Returns the first matching local time from `local` on.
    func local(atOrAfter local: Int64) -> Int64? {
        let today = CivilDay(number: local.floored(by: CivilDay.seconds))
        if includes(today), let time = timeOfDay(from: local - today.number * CivilDay.seconds) {
            return today.number * CivilDay.seconds + time
        }
        guard let first = timeOfDay(from: 0) else { return nil }
        var day = CivilDay(number: today.number + 1)
        while day.number - today.number <= Self.longestSearch {
            if includes(day) { return day.number * CivilDay.seconds + first }
            day = sets.months.contains(day.month) ? CivilDay(number: day.number + 1) : day.firstOfNextMonth
        }
        return nil
    }

    /// Returns the last matching local time up to `local`.
    func local(atOrBefore local: Int64) -> Int64? {
        let today = CivilDay(number: local.floored(by: CivilDay.seconds))
        if includes(today), let time = timeOfDay(upTo: local - today.number * CivilDay.seconds) {
            return today.number * CivilDay.seconds + time
        }
        guard let last = timeOfDay(upTo: CivilDay.seconds - 1) else { return nil }
        var day = CivilDay(number: today.number - 1)
        while today.number - day.number <= Self.longestSearch {
            if includes(day) { return day.number * CivilDay.seconds + last }
            day = sets.months.contains(day.month) ? CivilDay(number: day.number - 1) : day.lastOfPreviousMonth
        }
        return nil
    }

    private func timeOfDay(from second: Int64) -> Int64? {
        let (hour, minute) = (second / 3600, second / 60 % 60)
        if sets.hours.contains(hour) {
            if sets.minutes.contains(minute), let match = sets.seconds.first(from: second % 60) {
                return hour * 3600 + minute * 60 + match
            }
            if let match = sets.minutes.first(from: minute + 1), let first = sets.seconds.first(from: 0) {
                return hour * 3600 + match * 60 + first
            }
        }
        guard let match = sets.hours.first(from: hour + 1), let first = sets.minutes.first(from: 0),
            let second = sets.seconds.first(from: 0)
        else { return nil }
        return match * 3600 + first * 60 + second
    }

    private func timeOfDay(upTo second: Int64) -> Int64? {
        let (hour, minute) = (second / 3600, second / 60 % 60)
        if sets.hours.contains(hour) {
            if sets.minutes.contains(minute), let match = sets.seconds.last(upTo: second % 60) {
                return hour * 3600 + minute * 60 + match
            }
            if let match = sets.minutes.last(upTo: minute - 1), let last = sets.seconds.last(upTo: 59) {
                return hour * 3600 + match * 60 + last
            }
        }
        guard let match = sets.hours.last(upTo: hour - 1), let last = sets.minutes.last(upTo: 59),
            let second = sets.seconds.last(upTo: 59)
        else { return nil }
        return match * 3600 + last * 60 + second
    }
}

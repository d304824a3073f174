extension ScheduleTiming {
    /// Returns the local time of the schedule's zone at a time in milliseconds since 1970 UTC, with its offset from
    /// UTC: `2026-03-29 03:00:00 +02:00`.
    public func localText(_ time: Int64) -> String {
        let seconds = time.floored(by: 1000)
        let offset: Int64 =
            switch kind {
            case .cron(let cron): cron.zone.offset(at: seconds)
            case .every: 0
            }
        let shown = seconds + offset
        let day = CivilDay(number: shown.floored(by: CivilDay.seconds))
        let second = shown - day.number * CivilDay.seconds
        let (date, clock) = (
            "\(Self.digits(day.year, 4))-\(Self.digits(day.month))-\(Self.digits(day.day))",
            "\(Self.digits(second / 3600)):\(Self.digits(second / 60 % 60)):\(Self.digits(second % 60))"
        )
        let distance = abs(offset)
        let sign = offset < 0 ? "-" : "+"
        return "\(date) \(clock) \(sign)\(Self.digits(distance / 3600)):\(Self.digits(distance / 60 % 60))"
    }

    private static func digits(_ number: Int64, _ count: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

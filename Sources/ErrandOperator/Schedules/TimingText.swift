package import Errand
import ErrandText

extension ScheduleTiming {
    /// The cron expression without its time zone; `nil` for an interval.
    package var expression: String? {
        let (text, zone) = (description, " (\(timeZone))")
        guard interval == nil, text.hasSuffix(zone) else { return nil }
        return String(text.dropLast(zone.count))
    }

    /// The timing in words: `every minute`, `at 03:00 every day (Europe/Berlin)`. Expressions that take more words than
    /// they save are returned as they are.
    package var words: String {
        if let interval { return "every \(Self.interval(interval))" }
        guard let expression, let words = CronWords(expression)?.text else { return description }
        return words.needsZone ? "\(words.text) (\(timeZone))" : words.text
    }

    private static func interval(_ milliseconds: Int64) -> String {
        let text = TimeSpanText.exact(milliseconds)
        let names = ["1 s": "second", "1 min": "minute", "1 h": "hour", "1 d": "day"]
        return names[text] ?? text
    }
}

/// The words of common cron expressions.
private struct CronWords {
    private static let nicknames = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]
    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    private let minute: String
    private let hour: String
    private let day: String
    private let month: String
    private let weekday: String

    init?(_ expression: String) {
        let plain = Self.nicknames[expression] ?? expression
        let fields = plain.split(separator: " ").map(String.init)
        guard fields.count == 5 else { return nil }
        (minute, hour, day, month, weekday) = (fields[0], fields[1], fields[2], fields[3], fields[4])
    }

    /// The words, and whether they depend on the time zone.
    var text: (text: String, needsZone: Bool)? {
        if hour == "*" {
            guard let days, days == "every day" else { return nil }
            return withinHour.map { ($0, false) }
        }
        guard let time, let days else { return nil }
        return ("at \(time) \(days)", true)
    }

    private var withinHour: String? {
        if minute == "*" { return "every minute" }
        if minute.hasPrefix("*/"), let step = Int(minute.dropFirst(2)), 60.isMultiple(of: max(1, step)) {
            return step == 1 ? "every minute" : "every \(step) minutes"
        }
        return Self.number(minute, 0...59).map { "at minute \($0) of every hour" }
    }

    private var time: String? {
        guard let hour = Self.number(hour, 0...23), let minute = Self.number(minute, 0...59) else { return nil }
        return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    }

    private var days: String? {
        switch (day, month, weekday) {
        case ("*", "*", "*"): return "every day"
        case ("*", "*", _): return weekdayWords
        case (_, "*", "*"): return dayWords.map { "on \($0) of every month" }
        case (_, _, "*"):
            guard let number = Self.number(month, 1...12) else { return nil }
            return dayWords.map { "on \($0) of \(Self.months[number - 1])" }
        default: return nil
        }
    }

    private var dayWords: String? {
        day == "L" ? "the last day" : Self.number(day, 1...31).map { "day \($0)" }
    }

    private var weekdayWords: String? {
        let ends = weekday.split(separator: "-", omittingEmptySubsequences: false).map { Self.weekday(String($0)) }
        switch (ends.count, ends.first ?? nil, ends.last ?? nil) {
        case (1, let day?, _): return "every \(day)"
        case (2, let first?, let last?): return "\(first) to \(last)"
        default: return nil
        }
    }

    private static func weekday(_ text: String) -> String? {
        if let number = number(text, 0...7) { return weekdays[number % 7] }
        return weekdays.first { $0.lowercased().prefix(3) == text.lowercased() }
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.count <= 2, let number = Int(text), range.contains(number) else { return nil }
        return number
    }
}

import Foundation

/// Conversions between Errand's times, in milliseconds since 1970 UTC, and text for people.
package enum Timestamp {
    /// Parses an ISO 8601 time with date, time of day and zone: `2026-11-21T10:00:00Z`,
    /// `2026-11-21T11:00:00.250+01:00`.
    ///
    /// - Throws: ``TimestampError`` if the text is not such a time.
    package static func parse(_ text: String) throws(TimestampError) -> Int64 {
        // Foundation also accepts days that do not exist and turns them into others.
        guard let fields = text.wholeMatch(of: pattern), (1...12).contains(Int(fields.2) ?? 0),
            let days = daysInMonth(Int(fields.1) ?? 0, Int(fields.2) ?? 0), (1...days).contains(Int(fields.3) ?? 0)
        else { throw TimestampError(text: text) }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: fields.4 != nil)
        guard let date = try? style.parse(text) else { throw TimestampError(text: text) }
        return Int64((date.timeIntervalSince1970 * 1000).rounded())
    }

    /// Formats a time in UTC such as `2026-11-21T10:00:00.250Z`. A number outside the years 1970 to 9999 is written in
    /// milliseconds.
    package static func text(_ milliseconds: Int64) -> String {
        guard (0...253_402_300_799_999).contains(milliseconds) else { return "\(milliseconds) ms" }
        // A fraction of a second would sometimes be off by one.
        let whole = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(Date.ISO8601FormatStyle())
        let digits = String(1000 + milliseconds % 1000).dropFirst()
        return "\(whole.dropLast()).\(digits)Z"
    }

    private static var pattern: Regex<(Substring, Substring, Substring, Substring, Substring?)> {
        /([0-9]{4})-([0-9]{2})-([0-9]{2})T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})/
    }

    private static func daysInMonth(_ year: Int, _ month: Int) -> Int? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return days.indices.contains(month - 1) ? days[month - 1] : nil
    }
}

/// The error for a text that is not a time.
package struct TimestampError: Error, CustomStringConvertible, Sendable {
    /// The text as it was written.
    package let text: String

    /// The problem and the expected format.
    package var description: String {
        "\"\(text)\" is not a time; write date, time of day and zone: 2026-11-21T10:00:00Z or 2026-11-21T11:00:00+01:00"
    }
}

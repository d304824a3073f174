import Foundation

/// The `Retry-After` header field: seconds, or a date.
enum RetryAfter {
    /// A server may request a longer wait than the catalogue's `longest`, which applies to normal retries. But a single
    /// wrong digit must not delay a job for months, so longer waits are shortened to this.
    private static let longest: Duration = .seconds(86_400)

    private static let formats = [
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
    ]

    /// Returns how long to wait.
    ///
    /// - Parameters:
    ///   - text: The field's value.
    ///   - date: The response's `Date`: a date is compared with the clock of the server that set it.
    ///   - now: The time if the response has no date.
    /// - Returns: The wait, or `nil` if there is no valid field or its time has passed.
    static func duration(_ text: String?, date: String?, now: Date = Date()) -> Duration? {
        guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return Int64(text).map { min(.seconds($0), longest) } ?? longest
        }
        guard let then = parse(text) else { return nil }
        let wait = then.timeIntervalSince(date.flatMap(parse) ?? now)
        return wait > 0 ? .seconds(min(wait, TimeInterval(longest.components.seconds))) : nil
    }

    private static func parse(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in formats {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}

import ErrandText

extension Timestamp {
    /// Formats the distance of a time from another: `2 min ago`, `in 5 s`.
    ///
    /// - Parameters:
    ///   - milliseconds: The time, in milliseconds since 1970 UTC.
    ///   - now: The present.
    package static func relative(_ milliseconds: Int64, to now: Int64) -> String {
        // Corrupt numbers must not overflow.
        let (distance, overflow) = milliseconds.subtractingReportingOverflow(now)
        if overflow { return text(milliseconds) }
        if distance > 0 { return "in \(TimeSpanText.brief(distance))" }
        return "\(TimeSpanText.brief(distance == .min ? .max : -distance)) ago"
    }
}

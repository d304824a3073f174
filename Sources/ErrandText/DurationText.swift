/// The text form of durations: a whole number and one unit, `250ms`, `10s`, `5m`, `2h` or `1d`.
///
/// ```swift
/// let wait = try DurationText.parse("90s")  // 90 seconds
/// let text = DurationText.format(.seconds(7_200))  // "2h"
/// ```
package enum DurationText {
    /// The longest duration that can be written: a hundred years of 365 days, so that adding it to a time of this
    /// century cannot overflow.
    package static let longest = Duration.seconds(36_500 * 86_400)

    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Parses a duration.
    ///
    /// - Parameter text: Digits and a unit without a space between them.
    /// - Returns: The duration, at least one millisecond and at most ``longest``.
    /// - Throws: ``DurationTextError`` if the text is not such a duration.
    package static func parse(_ text: String) throws(DurationTextError) -> Duration {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let suffix = String(text.dropFirst(digits.count))
        guard !digits.isEmpty, let unit = units.first(where: { $0.suffix == suffix }) else {
            throw DurationTextError(text: text, reason: .notADuration)
        }
        guard let number = Int64(String(Substring(digits))) else {
            throw DurationTextError(text: text, reason: .tooLong)
        }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow, milliseconds <= longest.components.seconds * 1_000 else {
            throw DurationTextError(text: text, reason: .tooLong)
        }
        guard milliseconds > 0 else { throw DurationTextError(text: text, reason: .notPositive) }
        return .milliseconds(milliseconds)
    }

    /// Formats a duration in the largest unit that represents it exactly, to the millisecond (a fraction is rounded
    /// up).
    ///
    /// - Parameter duration: Any duration; the result for one that ``parse(_:)`` has returned parses to the same
    ///   duration.
    /// - Returns: Text such as `90s`; a negative duration has a minus sign.
    package static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        // Only for values far beyond those that can be written; days would not be exact there anyway.
        guard !overflow, !whole.addingReportingOverflow(fraction).overflow else { return "\(seconds)s" }
        let milliseconds = whole + fraction
        let unit = units.last { milliseconds != 0 && milliseconds % $0.milliseconds == 0 } ?? units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}

/// The error for a text that is not a duration.
package struct DurationTextError: Error, Equatable, CustomStringConvertible {
    /// The problem with a text.
    package enum Reason: Sendable {
        /// The text is not a whole number and a unit.
        case notADuration
        /// The duration is zero.
        case notPositive
        /// The duration is longer than ``DurationText/longest``.
        case tooLong
    }

    /// The original text.
    package let text: String
    /// The problem with it.
    package let reason: Reason

    /// A description of the problem and of the syntax.
    package var description: String {
        let shown = text.printable.shortened(to: 100)
        return switch reason {
        case .notADuration:
            "\"\(shown)\" is not a duration; write a whole number and a unit: 250ms, 10s, 5m, 2h or 1d"
        case .notPositive:
            "\"\(shown)\" is no time at all; a duration is at least 1ms"
        case .tooLong:
            "\"\(shown)\" is too long; a duration is at most \(DurationText.format(DurationText.longest))"
        }
    }
}

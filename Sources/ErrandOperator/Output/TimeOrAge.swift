import Errand
import ErrandText

/// A time, or an age: `2026-11-21T10:00:00Z`, `2h`.
package enum TimeOrAge: Sendable {
    case time(Int64)
    case age(Duration)

    /// Parses a text; `nil` if it is neither.
    package init?(_ text: String) {
        if let time = try? Timestamp.parse(text) {
            self = .time(time)
        } else if let age = try? DurationText.parse(text) {
            self = .age(age)
        } else {
            return nil
        }
    }

    /// Returns the time in milliseconds since 1970 UTC.
    ///
    /// - Parameter now: The time from which an age is subtracted.
    package func milliseconds(before now: Int64) -> Int64 {
        switch self {
        case .time(let time): time
        case .age(let age): max(0, now - Int64(age.wholeMilliseconds))
        }
    }
}

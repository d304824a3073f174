import ErrandOperator
import Foundation

/// The display form of moments, which is the same everywhere: `2 min ago` or `in 3 h` in tables on a terminal, both the
/// exact time and this in details, and the exact time alone in full tables.
struct MomentText: Sendable {
    /// The present, in milliseconds since 1970 UTC.
    let now: Int64

    /// Makes a form with the present of this machine's clock.
    init(now: Int64 = Int64(Date().timeIntervalSince1970 * 1000)) { self.now = now }

    /// Formats a moment for a table.
    func cell(_ milliseconds: Int64, _ style: ListStyle) -> String {
        style.isFull ? Timestamp.text(milliseconds) : relative(milliseconds)
    }

    /// Formats a moment for details: `2026-11-21T10:00:00.000Z (2 min ago)`.
    func detail(_ milliseconds: Int64) -> String { "\(Timestamp.text(milliseconds)) (\(relative(milliseconds)))" }

    /// Formats the distance of a moment from the present.
    func relative(_ milliseconds: Int64) -> String { Timestamp.relative(milliseconds, to: now) }
}

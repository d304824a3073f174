/// Decides when a session maintains a queue again: about once a second, and when the next job is due.
///
/// Every session receives the same due time, but one of them is enough. A session that found nothing left to do chooses
/// a later time after the next due time, and one that found due jobs an earlier time. So a few sessions share the work
/// and the others find nothing to do; if those few stop, another session finds due jobs within a second.
package struct MaintenancePace {
    private static let least = 2.0
    private static let most = 700.0

    /// The longest random delay after a due time, in milliseconds.
    private var spread = 10.0
    /// Whether the last pause ends when something is due.
    package private(set) var comesForDueJobs = false

    /// Makes the initial pace.
    package init() {}

    /// Returns how long to wait before the next maintenance.
    ///
    /// - Parameters:
    ///   - next: the time until something is due; `nil` if that is not known.
    ///   - found: whether this maintenance found something due.
    ///   - generator: the source of random numbers.
    package mutating func pause(
        until next: Duration?,
        found: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        if found {
            spread = max(spread / 2, Self.least)
        } else if comesForDueJobs {
            spread = min(spread * 2, Self.most)
        }
        let usual = Duration.milliseconds(Int.random(in: 700...1100, using: &generator))
        // Due times are whole milliseconds, so the pause is a moment longer.
        let due =
            next.map { max($0, .zero) + .milliseconds(1 + Double.random(in: 0...spread, using: &generator)) } ?? usual
        comesForDueJobs = due < usual
        return min(due, usual)
    }
}

/// When a session looks after a queue again: about once a second, and when the next job is due.
///
/// Every session learns the same due time. They must not all come at once, for one is enough: who comes too late for what was due comes
/// later after the next due time, and who was there first comes earlier. So a few share the work and the others only look on; where
/// those few are gone, the others find what is due within a second.
package struct MaintenancePace {
    private static let least = 2.0
    private static let most = 700.0

    /// Up to how long after a due time to come, in milliseconds.
    private var spread = 10.0
    private var cameForDueJobs = false

    /// Begins.
    package init() {}

    /// How long to wait until the next look.
    ///
    /// - Parameters:
    ///   - next: in how long something is due; `nil` when nothing is known to be.
    ///   - found: whether this look found something due.
    ///   - generator: where chance comes from.
    package mutating func pause(
        until next: Duration?,
        found: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        if found { spread = max(spread / 2, Self.least) } else if cameForDueJobs { spread = min(spread * 2, Self.most) }
        let usual = Duration.milliseconds(Int.random(in: 700...1100, using: &generator))
        // A moment later than said: due times are whole milliseconds.
        let due =
            next.map { max($0, .zero) + .milliseconds(1 + Double.random(in: 0...spread, using: &generator)) } ?? usual
        cameForDueJobs = due < usual
        return min(due, usual)
    }
}

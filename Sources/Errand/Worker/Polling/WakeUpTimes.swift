/// The times at which the queues of a session are looked at when nothing has called for it.
///
/// A session of a hundred idle queues makes several hundred calls a second. If each of them had a time of its own, it
/// would wake the worker's threads and the server for itself. Calls at the same time share a write and a read, which
/// costs a fraction. Timers of operating systems are coalesced for the same reason.
package struct WakeUpTimes: Sendable {
    /// The time from one to the next. Shorter pauses keep their own end.
    private static let interval = Duration.milliseconds(250)

    private let start: ContinuousClock.Instant

    /// Makes the times of a session. Sessions begin at different times, so their calls do not coincide.
    package init(since start: ContinuousClock.Instant) {
        self.start = start
    }

    /// Returns a pause that begins at `now` and ends at the last of these times within `pause`.
    func pause(of pause: Duration, at now: ContinuousClock.Instant) -> Duration {
        last(until: now + pause, after: now) - now
    }

    /// Returns the last of these times until `end`, or `end` itself if the pause from `now` to `end` is shorter than two
    /// intervals.
    func last(until end: ContinuousClock.Instant, after now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        guard end - now >= Self.interval * 2 else { return end }
        return start + Self.interval * ((end - start) / Self.interval).rounded(.down)
    }
}

/// The pause before a poller looks for work without a wake-up: short after it has found some, then longer with every
/// unsuccessful look. Long pauses of a session's queues end together (``WakeUpTimes``).
struct PollPause {
    private let longest: Duration
    private let times: WakeUpTimes
    private var current = Duration.zero
    private var over: ContinuousClock.Instant

    init(longest: Duration, times: WakeUpTimes, at now: ContinuousClock.Instant) {
        self.longest = longest
        self.times = times
        over = now
    }

    func isOver(at now: ContinuousClock.Instant) -> Bool { now >= over }

    /// Returns the rest of the pause. If it is over but the poller may not ask for jobs, the longest pause.
    func rest(at now: ContinuousClock.Instant) -> Duration {
        let rest = over - now
        return rest > .zero ? rest : longest
    }

    /// Ends the pause because there may be work.
    mutating func hurry(at now: ContinuousClock.Instant) {
        current = .zero
        over = now
    }

    /// Notes whether a look has found work, and starts the next pause.
    mutating func note(found: Bool, hurries: Bool, at now: ContinuousClock.Instant) {
        if found || hurries { return hurry(at: now) }
        current = min(max(current * 2, .milliseconds(1)), longest)
        over = times.last(until: now + current, after: now)
    }
}

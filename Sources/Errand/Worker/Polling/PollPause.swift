/// The pause before a poller looks for work without a wake-up: short after it has found some, then longer with every
/// unsuccessful look.
struct PollPause {
    private let longest: Duration
    private var current = Duration.zero
    private var over = ContinuousClock.now

    init(longest: Duration) { self.longest = longest }

    var isOver: Bool { ContinuousClock.now >= over }

    /// The rest of the pause. If it is over but the poller may not ask for jobs, the longest pause.
    var rest: Duration {
        let rest = over - ContinuousClock.now
        return rest > .zero ? rest : longest
    }

    /// Ends the pause because there may be work.
    mutating func hurry() {
        current = .zero
        over = .now
    }

    /// Notes whether a look has found work, and starts the next pause.
    mutating func note(found: Bool, hurries: Bool) {
        if found || hurries { return hurry() }
        current = min(max(current * 2, .milliseconds(1)), longest)
        over = .now + current
    }
}

/// When a poller looks for work again without having been told that there is some: soon after it found some, then less
/// and less often.
struct PollPause {
    private let longest: Duration
    private var current = Duration.zero
    private var over = ContinuousClock.now

    init(longest: Duration) { self.longest = longest }

    var isOver: Bool { ContinuousClock.now >= over }

    /// How long until the pause is over; while it is over and nothing may be asked for, the longest pause.
    var rest: Duration {
        let rest = over - ContinuousClock.now
        return rest > .zero ? rest : longest
    }

    /// Somebody said that there is something to do.
    mutating func hurry() {
        current = .zero
        over = .now
    }

    /// A look has found work or not.
    mutating func note(found: Bool, hurries: Bool) {
        if found || hurries { return hurry() }
        current = min(max(current * 2, .milliseconds(1)), longest)
        over = .now + current
    }
}

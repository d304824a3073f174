/// Everything about background tasks that changes.
struct BackgroundTasksState: ~Copyable {
    var tasks = BackgroundTaskSlots()
    /// Whether a task has ever begun.
    var hasBegun = false

    var grace = 25.0
    var expirationLead = 5.0
    var leavesOnTermination = true

    /// There once termination has begun.
    var countdown: Countdown?
    /// Who is told when it begins.
    var listeners: [@Sendable (Double) -> Void] = []
    /// Who waits until every task has ended.
    var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]

    /// Begins a task, unless it is too late. `isFirst` if there never was one before.
    mutating func begin(
        _ belongings: BackgroundTaskSlots.Belongings
    ) -> (identifier: BackgroundTaskIdentifier, isFirst: Bool) {
        if let countdown, countdown.isClosed { return (.invalid, false) }
        let isFirst = !hasBegun
        hasBegun = true
        return (tasks.begin(belongings), isFirst)
    }

    /// Ends a task. `isAwaited` if that is what the countdown waited for.
    mutating func end(
        _ identifier: BackgroundTaskIdentifier
    ) -> (belongings: BackgroundTaskSlots.Belongings?, isAwaited: Bool) {
        let belongings = tasks.end(identifier)
        return (belongings, belongings != nil && tasks.count == 0 && countdown != nil)
    }

    /// What is to be done once a countdown has been begun.
    struct Start {
        /// Who has to be told; nil if that has been done before.
        var listeners: [@Sendable (Double) -> Void]?
        /// Whether a thread has to serve the countdown; otherwise one does.
        var needsThread: Bool
    }

    /// Begins the countdown. If it runs already its time becomes shorter, but not longer.
    mutating func count(down new: Countdown, isLeaving: Bool) -> Start {
        let isFirst = countdown == nil
        var current = countdown ?? new
        current.shorten(to: new)
        current.isLeaving = current.isLeaving || isLeaving
        let start = Start(listeners: isFirst ? listeners : nil, needsThread: !current.isServed)
        current.isServed = true
        countdown = current
        listeners = []
        return start
    }

    /// What the countdown's thread has to do.
    struct Turn {
        var step: Countdown.Step
        /// When time is up.
        var end: UInt64
        /// Who has waited long enough.
        var waiters: [CheckedContinuation<Bool, Never>] = []
        /// Whether every task has ended.
        var isIdle: Bool
    }

    /// What to do at `now`.
    mutating func turn(at now: UInt64) -> Turn {
        guard var current = countdown else { return Turn(step: .stop, end: .max, isIdle: true) }
        let isIdle = tasks.count == 0
        let step = current.next(at: now, isIdle: isIdle, mayLeave: leavesOnTermination)
        countdown = current
        var turn = Turn(step: step, end: current.end, isIdle: isIdle)
        if current.isOver(at: now, isIdle: isIdle) {
            turn.waiters = Array(waiters.values)
            waiters = [:]
        }
        return turn
    }
}

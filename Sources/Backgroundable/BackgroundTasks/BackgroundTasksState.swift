/// The mutable state of background tasks.
struct BackgroundTasksState: ~Copyable {
    var tasks = BackgroundTaskSlots()
    /// Whether a task has ever begun.
    var hasBegun = false

    var grace = 25.0
    var expirationLead = 5.0
    var leavesOnTermination = true

    /// The countdown, once termination has begun.
    var countdown: Countdown?
    /// The handlers that are called when termination begins.
    var listeners: [@Sendable (Double) -> Void] = []
    /// The callers that wait until every task has ended.
    var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]

    /// Begins a task, unless it is too late. `isFirst` is true for the first task of the process.
    mutating func begin(
        _ belongings: BackgroundTaskSlots.Belongings
    ) -> (identifier: BackgroundTaskIdentifier, isFirst: Bool) {
        if let countdown, countdown.isClosed { return (.invalid, false) }
        let isFirst = !hasBegun
        hasBegun = true
        return (tasks.begin(belongings), isFirst)
    }

    /// Ends a task. `isAwaited` is true if a countdown waited for this to be the last one.
    mutating func end(
        _ identifier: BackgroundTaskIdentifier
    ) -> (belongings: BackgroundTaskSlots.Belongings?, isAwaited: Bool) {
        let belongings = tasks.end(identifier)
        return (belongings, belongings != nil && tasks.count == 0 && countdown != nil)
    }

    /// What the caller has to do after beginning a countdown.
    struct Start {
        /// The handlers to call, or nil if the countdown had already begun.
        var listeners: [@Sendable (Double) -> Void]?
        /// Whether a thread has to serve the countdown. Otherwise one already does.
        var needsThread: Bool
    }

    /// Begins the countdown. If one is running, its time can only become shorter.
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

    /// A step of the thread that serves the countdown.
    struct Turn {
        var step: Countdown.Step
        /// When time is up.
        var end: UInt64
        /// The callers whose wait is over.
        var waiters: [CheckedContinuation<Bool, Never>] = []
        /// Whether every task has ended.
        var isIdle: Bool
    }

    /// Returns what to do at `now`.
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

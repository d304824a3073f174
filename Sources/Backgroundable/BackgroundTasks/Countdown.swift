/// The remaining time once termination has begun, and the steps to take in it. This type only computes; the thread that
/// serves the countdown takes the steps.
struct Countdown {
    /// The next step.
    enum Step: Equatable {
        /// Expire the remaining tasks.
        case expire
        /// Do nothing before this moment, unless the state changes.
        case sleep(until: UInt64)
        /// Exit the process.
        case leave(ProcessExit)
        /// Do nothing, unless the countdown is begun again.
        case stop
    }

    /// When time is up, or the largest number for never.
    private(set) var end: UInt64
    private var expiresAt: UInt64
    private var hasExpired = false
    private var hasLeft = false

    /// Whether termination handlers are still being called.
    var isAnnouncing = true
    /// Whether a signal asks the process to exit.
    var isLeaving = false
    /// Whether a thread takes the steps of ``next(at:isIdle:mayLeave:)``.
    var isServed = false

    /// Creates a countdown that begins now.
    ///
    /// - Parameters:
    ///   - seconds: The remaining time. May be infinite.
    ///   - lead: How long before the end the tasks expire. Limited to `seconds`.
    init(seconds: Double, lead: Double) {
        end = Countdown.moment(after: seconds)
        expiresAt = Countdown.moment(after: seconds - min(lead, seconds))
    }

    /// Whether no further task may begin.
    var isClosed: Bool {
        hasExpired || hasLeft
    }

    /// Takes the earlier moments of this countdown and another one. Time that was announced never becomes longer.
    mutating func shorten(to other: Countdown) {
        end = min(end, other.end)
        expiresAt = min(expiresAt, other.expiresAt)
    }

    /// Returns the remaining seconds, never negative.
    func remaining(at now: UInt64) -> Double {
        guard end != .max else { return .infinity }
        return end > now ? Double(end - now) / 1_000_000_000 : 0
    }

    /// Whether the wait is over: every task has ended and every handler has returned, or time is up.
    func isOver(at now: UInt64, isIdle: Bool) -> Bool {
        isIdle && !isAnnouncing || now >= end
    }

    /// Returns the step to take at `now`. Each step other than `sleep` is returned once.
    mutating func next(at now: UInt64, isIdle: Bool, mayLeave: Bool) -> Step {
        let leaves = isLeaving && mayLeave && !hasLeft
        if leaves, isIdle, !isAnnouncing {
            return leave(.done)
        }
        if now >= expiresAt, !hasExpired {
            hasExpired = true
            return .expire
        }
        if now >= end {
            if leaves { return leave(.timeUp) }
            isServed = false
            return .stop
        }
        return .sleep(until: hasExpired ? end : expiresAt)
    }

    private mutating func leave(_ departure: ProcessExit) -> Step {
        hasLeft = true
        isServed = false
        return .leave(departure)
    }

    private static func moment(after seconds: Double) -> UInt64 {
        seconds > 0 ? MonotonicTime.after(seconds) ?? .max : MonotonicTime.now
    }
}

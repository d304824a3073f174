/// The time that is left once termination has begun, and what is to be done in it. Only numbers: who serves it does
/// the deeds.
struct Countdown {
    /// What is to be done now.
    enum Step: Equatable {
        /// Tell the tasks that are still there that their time is nearly up.
        case expire
        /// Nothing before this moment, unless something changes.
        case sleep(until: UInt64)
        /// Leave the process.
        case leave(ProcessExit)
        /// Nothing more, ever or until the countdown is begun again.
        case stop
    }

    /// When the time is up; the largest number if never.
    private(set) var end: UInt64
    private var expiresAt: UInt64
    private var hasExpired = false
    private var hasLeft = false

    /// Whether handlers that hear of the termination are still being called.
    var isAnnouncing = true
    /// Whether a signal asks the process to leave.
    var isLeaving = false
    /// Whether a thread does what ``next(at:isIdle:mayLeave:)`` says.
    var isServed = false

    /// A countdown from now on.
    ///
    /// - Parameters:
    ///   - seconds: How much time there is; may be infinite.
    ///   - lead: How long before the end the tasks expire; counts as `seconds` if it is longer.
    init(seconds: Double, lead: Double) {
        end = Countdown.moment(after: seconds)
        expiresAt = Countdown.moment(after: seconds - min(lead, seconds))
    }

    /// Whether no task may begin any more.
    var isClosed: Bool {
        hasExpired || hasLeft
    }

    /// Begins anew with the time of another countdown where that is shorter. Time once announced never gets longer.
    mutating func shorten(to other: Countdown) {
        end = min(end, other.end)
        expiresAt = min(expiresAt, other.expiresAt)
    }

    /// The seconds that are left, never negative.
    func remaining(at now: UInt64) -> Double {
        guard end != .max else { return .infinity }
        return end > now ? Double(end - now) / 1_000_000_000 : 0
    }

    /// Whether there is nothing to wait for any more: everything has ended, or time is up.
    func isOver(at now: UInt64, isIdle: Bool) -> Bool {
        isIdle && !isAnnouncing || now >= end
    }

    /// What to do at `now`. A step that is not `sleep` is given once.
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

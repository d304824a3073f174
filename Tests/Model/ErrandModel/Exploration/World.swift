/// Everything in the small scope: the queue, the workers, a producer, what is on its way between them, and which faults
/// may still happen.
struct World: Sendable {
    static let tick: Time = 1000
    static let lease: Time = 2 * tick
    static let hardDeadline: Time = 4 * tick
    /// By how many ticks the clock jumps: by more than half a lease.
    static let leap: Time = 3

    var queue = QueueModel()
    /// The broker's clock.
    var now: Time = 1_000_000
    var workers: [Worker]
    /// Calls on their way to the broker, copies among them, which may be executed in any order.
    var requests: [Request] = []
    /// Hints on their way to workers, of jobs that pushes gave them. Any may be lost: then it is never heard.
    var hints: [DirectDispatch] = []
    /// How many jobs the producer has sent, which are their ids, and how many it has yet to send.
    var pushed = 0
    var unsent: Int
    /// Jobs whose receipts were lost: the producer pushes them again.
    var unanswered: [Push] = []
    var faults: Faults
    var saved: Saved?
    var outage = Outage(lease: Self.lease)
    var sessionsMade = 0
    /// The newest token that was ever issued, whatever the broker has forgotten since.
    var greatestToken: Token = 0
    /// By how much the clock has jumped in all.
    var leapt: Time = 0
    /// When claims were made, had the clock never jumped.
    var claimTimes: [Token: Time] = [:]
    /// What came about in the last step.
    var witnesses = Witnesses()
    let rules: Rules

    struct Worker: Hashable, Sendable {
        var isPaused = false
        var session: SessionID?
        var lastNumber = 0
        /// Whether it waits for the answer of its last call.
        var isAwaiting = false
        /// The runs it knows of, one at the most.
        var held: [GivenClaim] = []
        /// The runs that it was told to stop.
        var stops: Set<JobID> = []
        /// A beat's answer counted other claims than it knows of.
        var mustReconcile = false
    }

    struct Request: Hashable, Sendable {
        var worker: Int
        var call: Call
    }

    /// What the broker will have on its disk when it loses its newest data.
    struct Saved: Sendable {
        var queue: QueueModel
        var outage: Outage
    }

    /// How many faults may still happen.
    package struct Faults: Hashable, Sendable {
        /// Answers that are lost, or calls that are sent twice.
        package var lost = 0
        package var crashes = 0
        package var pauses = 0
        package var rollbacks = 0
        /// Jumps of the broker's clock, back or forth, by three ticks.
        package var leaps = 0
        package var cancels = 0
        package var revivals = 0

        package init() {}
    }

    /// What may happen in a scope apart from faults.
    struct Rules: Sendable {
        /// What the producer may want of a job; it chooses anew for each.
        var kinds: [Push]
        /// How runs may end when nobody told them to stop.
        var verbs: [Verb]
        /// Whether workers may leave in peace.
        var workersLeave: Bool
        /// Whether workers crash only while they run something: then there can be many crashes.
        var crashesStrikeRuns: Bool
        /// Whether pushes may answer the workers' next calls.
        var workersAreHandedJobs: Bool
        /// Whether the clock may jump, so that times of before and after cannot be compared.
        var clockLeaps: Bool
    }

    init(_ scope: Exploration.Scope) {
        workers = Array(repeating: Worker(), count: scope.workers)
        unsent = scope.jobs
        faults = scope.faults
        rules = Rules(
            kinds: scope.kinds,
            verbs: scope.verbs,
            workersLeave: scope.workersLeave,
            crashesStrikeRuns: scope.crashesStrikeRuns,
            workersAreHandedJobs: scope.workersAreHandedJobs,
            clockLeaps: scope.faults.leaps > 0
        )
        var settings = SettingsChange()
        settings.rememberIDs = 1_000_000_000
        _ = queue.apply(.configure(settings), at: now)
    }
}

/// A worker's call to the broker: reports ended runs and claims new jobs.
public struct Exchange: Sendable {
    /// The session that calls.
    public var session: Session
    /// The call's number, which grows by one with each call of a session for a queue. A call that is sent again keeps
    /// its number.
    public var call: Int
    /// The outcomes of the runs that this call reports.
    public var reports: [OutcomeReport]
    /// The maximum number of jobs to claim; 0 to only report.
    public var wanted: Int
    /// The number of claimed jobs that can begin immediately; if 0, they wait in the worker first.
    public var freeSlots: Int
    /// The newest token for which a job has begun. After a crash it separates jobs that had begun from those that
    /// waited.
    public var begun: Token
    /// How long a claimed job may wait in the worker before it begins.
    public var longestWait: Duration
    /// How long a run may take to stop after its timeout.
    public var stopGrace: Duration
    /// Whether a push may pre-answer the session's next call with one job if this call finds none. The session must
    /// keep a slot free for that job, which arrives as ``WakeUp/claimed(queue:call:claim:)``.
    public var acceptsDirectDispatch: Bool

    /// Makes a call.
    public init(
        session: Session,
        call: Int,
        reports: [OutcomeReport],
        wanted: Int,
        freeSlots: Int,
        begun: Token,
        longestWait: Duration,
        stopGrace: Duration,
        acceptsDirectDispatch: Bool = false
    ) {
        self.session = session
        self.call = call
        self.reports = reports
        self.wanted = wanted
        self.freeSlots = freeSlots
        self.begun = begun
        self.longestWait = longestWait
        self.stopGrace = stopGrace
        self.acceptsDirectDispatch = acceptsDirectDispatch
    }
}

/// The broker's reply to an exchange.
public struct ExchangeReply: Sendable, Equatable {
    /// Whether each report was accepted, in order. `false` means that the session no longer had the claim.
    public var accepted: [Bool]
    /// The claimed jobs, which this session may run.
    public var claims: [Claim]
    /// Whether scheduled or retrying jobs are due, so that a promotion makes jobs ready immediately.
    public var hasDueJobs: Bool
    /// Whether the queue is paused.
    public var isPaused: Bool
    /// Whether another call may find jobs at once: this one stopped before the end of the ready list after it found only
    /// tombstones, or it found only expired jobs, which have let others of their workflows go on.
    public var hasMore: Bool
    /// Whether a push has pre-answered this call: its reports were not accepted and belong to the next call.
    public var isPreanswered: Bool
    /// Whether jobs wait whose group or queue has a limit or a rate, and which are therefore only claimed when the worker
    /// has a free slot.
    public var awaitsFreeSlot: Bool
    /// Whether somebody should promote: a group rests that may run again before any other one that rests, or workflows go on
    /// with more jobs than the call could look at.
    public var needsPromotion: Bool
    /// The jobs that this call found expired. They have ended. The reply to a repeated call leaves them out.
    public var expired: [ExpiredJob]

    /// Makes a reply.
    public init(
        accepted: [Bool],
        claims: [Claim],
        hasDueJobs: Bool = false,
        isPaused: Bool = false,
        hasMore: Bool = false,
        isPreanswered: Bool = false,
        awaitsFreeSlot: Bool = false,
        needsPromotion: Bool = false,
        expired: [ExpiredJob] = []
    ) {
        self.accepted = accepted
        self.claims = claims
        self.hasDueJobs = hasDueJobs
        self.isPaused = isPaused
        self.hasMore = hasMore
        self.isPreanswered = isPreanswered
        self.awaitsFreeSlot = awaitsFreeSlot
        self.needsPromotion = needsPromotion
        self.expired = expired
    }
}

/// A job that a call found expired, and so ended.
public struct ExpiredJob: Sendable, Equatable {
    /// The job's id.
    public let id: String
    /// The operation; `nil` if it cannot be read.
    public let operation: String?

    /// Makes an expired job.
    public init(id: String, operation: String?) {
        self.id = id
        self.operation = operation
    }
}

/// The broker's record that a session may run a job.
public struct Claim: Sendable, Equatable {
    /// The job's id.
    public let id: String
    /// The claim's number; see ``Token``.
    public let token: Token
    /// The attempt, from 1. Only failures and timeouts count; crashes and releases do not.
    public let attempt: Int
    /// The number of workers that died while this job was running.
    public let crashes: Int
    /// The stored form of the job: see `StoredJob`.
    public let body: [UInt8]

    /// Makes a claim.
    public init(id: String, token: Token, attempt: Int, crashes: Int, body: [UInt8]) {
        self.id = id
        self.token = token
        self.attempt = attempt
        self.crashes = crashes
        self.body = body
    }
}

/// The outcome of a run, as reported to the broker.
public struct OutcomeReport: Sendable, Equatable {
    /// The kind of outcome, which determines the job's next state.
    public enum Verb: String, Sendable, CaseIterable {
        /// The run finished, and so has the job.
        case finished = "f"
        /// The run failed: the job is retried after ``OutcomeReport/retryDelay``, or is dead if that is `nil`.
        case failed = "e"
        /// The run took longer than its timeout; treated as a failure.
        case timedOut = "t"
        /// The run was asked to stop, and stopped.
        case cancelled = "c"
        /// The worker stops: the job returns to the head of the ready list and spends nothing.
        case released = "r"
        /// The worker does not have the operation: the job is unroutable until a worker has it, and spends nothing.
        case unroutable = "u"
        /// The job runs again later and spends no attempt.
        case snoozed = "s"
        /// The run was told to come back later, and so is the job's group: it rests for ``OutcomeReport/retryDelay``, and
        /// the job is at its head. It spends no attempt. Without a group, the job is snoozed.
        case groupRests = "g"
        /// The body cannot be read: the job is dead, with the reason.
        case unreadable = "q"
    }

    /// The job's id.
    public var id: String
    /// The claim's token.
    public var token: Token
    /// The kind of outcome.
    public var verb: Verb
    /// The claim's attempt.
    public var attempt: Int
    /// How long the run took, in milliseconds.
    public var milliseconds: Int
    /// The event's `"operation":…,"name":…,"tags":…` part, from the envelope.
    public var fragment: [UInt8]
    /// The error of a failed run, at most ``mostErrorBytes``.
    public var error: String?
    /// The handler's result, at most 64 KiB.
    public var result: [UInt8]
    /// The delay before the retry in milliseconds; `nil` if there is none.
    public var retryDelay: Int?

    /// The maximum size of an error in bytes: 4 KiB of a child's standard error, and the text before it.
    public static let mostErrorBytes = 4096 + 256

    /// Makes a report.
    public init(
        id: String,
        token: Token,
        verb: Verb,
        attempt: Int,
        milliseconds: Int = 0,
        fragment: [UInt8] = [],
        error: String? = nil,
        result: [UInt8] = [],
        retryDelay: Int? = nil
    ) {
        self.id = id
        self.token = token
        self.verb = verb
        self.attempt = attempt
        self.milliseconds = milliseconds
        self.fragment = fragment
        self.error = error
        self.result = result
        self.retryDelay = retryDelay
    }
}

/// "These ended, give me as many again": a worker's call to the broker.
public struct Exchange: Sendable {
    /// The session that calls.
    public var session: Session
    /// The call's number, growing by one within a session and queue. A resend keeps its number.
    public var call: Int
    /// How the runs ended that are reported with this call.
    public var reports: [OutcomeReport]
    /// How many jobs to claim at the most; 0 to only report.
    public var wanted: Int
    /// How many of the claimed jobs can begin at once; with 0 they wait in the worker first.
    public var freeSlots: Int
    /// The newest token of which a job has begun, for the broker to tell begun jobs from waiting ones after a crash.
    public var begun: Token
    /// How long a claimed job may wait in the worker before it begins.
    public var longestWait: Duration
    /// How long after its timeout a run may take to really stop.
    public var stopGrace: Duration
    /// Whether a push may answer the session's next call, should this one find nothing: with one job, for which there must be a slot
    /// that nothing else can take meanwhile. The job comes as ``WakeUp/claimed(queue:call:claim:)``.
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

/// The broker's answer to an exchange.
public struct ExchangeReply: Sendable {
    /// For each report, in order: whether it counted. `false` means that the claim was no longer this session's.
    public var accepted: [Bool]
    /// The jobs that this session may now run.
    public var claims: [Claim]
    /// Whether there are jobs whose time has come, so that promoting would bring work at once.
    public var hasDueJobs: Bool
    /// Whether the queue is paused.
    public var isPaused: Bool
    /// Whether the broker met nothing but places of jobs that had left, and stopped before the end of the line: another call goes on there.
    public var hasMore: Bool
    /// Whether a push has answered this call before it came: then its reports were not taken and belong to the next call.
    public var isPreanswered: Bool

    /// Makes an answer.
    public init(
        accepted: [Bool],
        claims: [Claim],
        hasDueJobs: Bool = false,
        isPaused: Bool = false,
        hasMore: Bool = false,
        isPreanswered: Bool = false
    ) {
        self.accepted = accepted
        self.claims = claims
        self.hasDueJobs = hasDueJobs
        self.isPaused = isPaused
        self.hasMore = hasMore
        self.isPreanswered = isPreanswered
    }
}

/// The broker's record that a session may run a job.
public struct Claim: Sendable, Equatable {
    /// The job's id.
    public let id: String
    /// The fence; see ``Token``.
    public let token: Token
    /// Which attempt this is, from 1. Only failures and timeouts count; crashes and releases do not.
    public let attempt: Int
    /// How often a worker died with this job begun.
    public let crashes: Int
    /// What the broker stores of the job: see `StoredJob`.
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

/// How a run ended, as told to the broker.
public struct OutcomeReport: Sendable, Equatable {
    /// What the broker is to do.
    public enum Verb: String, Sendable, CaseIterable {
        /// The job is done.
        case finished = "f"
        /// The run failed: retry after ``OutcomeReport/retryDelay``, or dead when that is `nil`.
        case failed = "e"
        /// The run took longer than its timeout: as with a failure.
        case timedOut = "t"
        /// The run was told to stop, and stopped.
        case cancelled = "c"
        /// The worker stops: back to the head of the line, nothing spent.
        case released = "r"
        /// The worker does not know the operation: wait for one that does, nothing spent.
        case parked = "p"
        /// The job asked to be tried again later without spending an attempt.
        case snoozed = "s"
        /// The body cannot be read: dead, with the reason.
        case unreadable = "q"
    }

    /// The job's id.
    public var id: String
    /// The claim's token.
    public var token: Token
    /// What to do.
    public var verb: Verb
    /// The claim's attempt.
    public var attempt: Int
    /// How long the run took, in milliseconds.
    public var milliseconds: Int
    /// The event's `"operation":…,"name":…` part, from the envelope.
    public var fragment: [UInt8]
    /// Why it failed, at most ``mostErrorBytes``.
    public var error: String?
    /// What it gave, at most 64 KiB.
    public var result: [UInt8]
    /// After how many milliseconds to try again; `nil`: not at all.
    public var retryDelay: Int?

    /// The most bytes of an error: the 4 KiB that are kept of a child's standard error, and what is said before them.
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

/// The broker's reply to a heartbeat.
public struct Beat: Sendable, Equatable {
    /// The number of claims that the session has in this queue.
    public var claims: Int
    /// Jobs of this session that have to stop, each with the token of its claim.
    public var stops: [Stop]

    /// A job that has to stop.
    public struct Stop: Sendable, Equatable {
        /// The job's id.
        public let id: String
        /// The token of the claim.
        public let token: Token

        /// Makes a stop.
        public init(id: String, token: Token) {
            self.id = id
            self.token = token
        }
    }

    /// Makes a reply.
    public init(claims: Int, stops: [Stop]) {
        self.claims = claims
        self.stops = stops
    }
}

/// The result of one call of recovery.
public struct Recovery: Sendable, Equatable {
    /// The number of jobs that it recovered or timed out.
    public var recovered: Int
    /// Whether another call would immediately find more.
    public var hasMore: Bool
    /// The `recovered` events of the jobs that continue, whose worker is the lost one; the first 64 KiB of them.
    public var events: [JobEvent]

    /// The maximum size of the events' lines in bytes.
    static let eventBytes = 65_536

    /// Makes a result.
    public init(recovered: Int, hasMore: Bool, events: [JobEvent] = []) {
        self.recovered = recovered
        self.hasMore = hasMore
        self.events = events
    }
}

/// The result of comparing a session's claims with its worker's runs.
public struct Reconciliation: Sendable, Equatable {
    /// The number of released claims, which the worker did not have; their jobs are ready again.
    public var released: Int
    /// The runs whose claims no longer exist: their outcome cannot count.
    public var lost: [String]

    /// Makes a result.
    public init(released: Int, lost: [String]) {
        self.released = released
        self.lost = lost
    }
}

/// A claim of a session, without the job's body.
public struct HeldClaim: Sendable, Equatable {
    /// The job's id.
    public let id: String
    /// The claim's number; see ``Token``.
    public let token: Token
    /// The size of the job's body in bytes.
    public let bytes: Int

    /// Makes a claim.
    public init(id: String, token: Token, bytes: Int) {
        self.id = id
        self.token = token
        self.bytes = bytes
    }
}

/// The result of one call of promotion.
public struct Promotion: Sendable, Equatable {
    /// The number of jobs that became ready.
    public var promoted: Int
    /// The milliseconds until the next job is due or the next schedule ticks; 0 if more jobs are due now, `nil` if
    /// there are none.
    public var nextDue: Int?
    /// Whether a schedule is due.
    public var hasDueSchedules: Bool

    /// Makes a result.
    public init(promoted: Int, nextDue: Int?, hasDueSchedules: Bool = false) {
        self.promoted = promoted
        self.nextDue = nextDue
        self.hasDueSchedules = hasDueSchedules
    }
}

/// The outcome of cancelling or deleting a job.
public enum EndingOutcome: String, Sendable {
    /// The job was waiting and has ended.
    case cancelled
    /// The job is running and was asked to stop.
    case stopping
    /// The job was removed.
    case deleted
    /// The job is running; cancel it first.
    case running
    /// The job had already ended.
    case ended
    /// The job is dead; delete or retry it.
    case dead
    /// The broker does not have the job.
    case notFound = "not_found"
}

/// The outcome of retrying a job by hand.
public enum RetryOutcome: Sendable, Equatable {
    /// The job was dead and is ready again.
    case retried
    /// The job was scheduled or waited for a retry, and is ready now.
    case hurried
    /// The job is neither dead, nor scheduled, nor waiting for a retry.
    case notDead
    /// Another job holds its name.
    case nameTaken(holder: String)
    /// The broker does not have the job.
    case notFound
}

/// A violated invariant of a queue's data.
public struct Finding: Sendable, Equatable {
    /// A short word for the kind of finding, for programs.
    public var kind: String
    /// The queue; empty if the finding concerns the registry of all queues.
    public var queue: String
    /// The job or entry that it concerns.
    public var subject: String
    /// What is wrong and what its consequences are, for people.
    public var message: String
    /// Whether it was repaired.
    public var repaired: Bool

    /// Makes a finding.
    public init(kind: String, queue: String, subject: String, message: String, repaired: Bool = false) {
        self.kind = kind
        self.queue = queue
        self.subject = subject
        self.message = message
        self.repaired = repaired
    }
}

/// The broker's answer to a heartbeat.
public struct Beat: Sendable, Equatable {
    /// How many claims the broker holds for the session in this queue.
    public var claims: Int
    /// Jobs of this session that are to stop, each with the token of its claim.
    public var stops: [Stop]

    /// A job that is to stop.
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

    /// Makes an answer.
    public init(claims: Int, stops: [Stop]) {
        self.claims = claims
        self.stops = stops
    }
}

/// What one call of recovery did.
public struct Recovery: Sendable, Equatable {
    /// How many jobs it took back.
    public var recovered: Int
    /// Whether another call would find more at once.
    public var hasMore: Bool

    /// Makes an answer.
    public init(recovered: Int, hasMore: Bool) {
        self.recovered = recovered
        self.hasMore = hasMore
    }
}

/// What a comparison of a session's claims with its worker's runs has shown.
public struct Reconciliation: Sendable, Equatable {
    /// How many claims the worker did not know; they are in line again.
    public var released: Int
    /// The runs that have no claim any more: whatever comes of them cannot count.
    public var lost: [String]

    /// Makes an answer.
    public init(released: Int, lost: [String]) {
        self.released = released
        self.lost = lost
    }
}

/// A claim as the broker keeps it, without the job's body.
public struct HeldClaim: Sendable, Equatable {
    /// The job's id.
    public let id: String
    /// The fence; see ``Token``.
    public let token: Token
    /// How large the job's body is.
    public let bytes: Int

    /// Makes a claim.
    public init(id: String, token: Token, bytes: Int) {
        self.id = id
        self.token = token
        self.bytes = bytes
    }
}

/// What one call of promotion did.
public struct Promotion: Sendable, Equatable {
    /// How many jobs it put in line.
    public var promoted: Int
    /// In how many milliseconds the next job is due or the next schedule ticks; 0 when more jobs are due now, `nil` when
    /// nothing is to come.
    public var nextDue: Int?
    /// Whether a schedule's tick has come.
    public var hasDueSchedules: Bool

    /// Makes an answer.
    public init(promoted: Int, nextDue: Int?, hasDueSchedules: Bool = false) {
        self.promoted = promoted
        self.nextDue = nextDue
        self.hasDueSchedules = hasDueSchedules
    }
}

/// What became of a job that was to be cancelled or deleted.
public enum EndingOutcome: String, Sendable {
    /// It waited and has ended.
    case cancelled
    /// It runs and was told to stop.
    case stopping
    /// It was removed.
    case deleted
    /// It runs; cancel it first.
    case running
    /// It has ended already.
    case ended
    /// It is dead; delete or retry it.
    case dead
    /// The broker does not know it.
    case notFound = "not_found"
}

/// What became of a job that was to be tried again, or now.
public enum RetryOutcome: Sendable, Equatable {
    /// It was dead, and is in line again.
    case retried
    /// It was waiting for its time, and is in line now.
    case hurried
    /// It is neither dead nor waiting for its time.
    case notDead
    /// Another job holds its name.
    case nameTaken(holder: String)
    /// The broker does not know it.
    case notFound
}

/// A broken invariant of a queue's data.
public struct Finding: Sendable, Equatable {
    /// A short word for the kind of finding, for programs.
    public var kind: String
    /// The queue; empty where the finding concerns the registry of all queues.
    public var queue: String
    /// The job or member concerned.
    public var subject: String
    /// What is wrong and what it would cost, for people.
    public var message: String
    /// Whether it was mended.
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

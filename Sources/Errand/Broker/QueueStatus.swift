/// A queue's counts and totals.
public struct QueueStatus: Sendable, Equatable {
    /// The queue's name.
    public var name: String
    /// Whether no job is claimed until it is resumed.
    public var isPaused: Bool
    /// Jobs in line, those included whose operation no worker knows yet.
    public var ready: Int
    /// Jobs due later.
    public var scheduled: Int
    /// Jobs that sessions hold.
    public var running: Int
    /// Jobs that failed and are due again later.
    public var retrying: Int
    /// Jobs that were given up.
    public var dead: Int
    /// Jobs that wait for the end of a running job of their name.
    public var deferred: Int
    /// How long the oldest job in line has been waiting, in milliseconds.
    public var oldestReadyMilliseconds: Int
    /// Waiting jobs by operations that no worker knew when it was handed them.
    public var unknownOperations: [String: Int]
    /// Counts since the queue exists.
    public var totals: Totals

    /// Counts since a queue exists.
    public struct Totals: Sendable, Equatable {
        /// Counts by the names of the contract: `pushed`, `dropped`, `replaced`, `finished`, `failed`, `timed_out`,
        /// `cancelled`, `retried`, `recovered`, `released`; and `dead`, jobs that were set aside for a person, and
        /// `dead_trimmed`, those of them that were deleted because there were too many.
        public var counts: [String: Int]

        /// The names every broker counts, in the order in which they are shown.
        public static let names = [
            "pushed", "dropped", "replaced", "finished", "failed", "timed_out", "cancelled", "retried", "recovered",
            "released", "dead", "dead_trimmed",
        ]

        /// Makes totals.
        public init(counts: [String: Int]) { self.counts = counts }

        /// A count by its name; 0 when nothing was counted.
        public subscript(name: String) -> Int { counts[name] ?? 0 }
    }

    /// Makes a status.
    public init(
        name: String,
        isPaused: Bool,
        ready: Int,
        scheduled: Int,
        running: Int,
        retrying: Int,
        dead: Int,
        deferred: Int,
        oldestReadyMilliseconds: Int,
        unknownOperations: [String: Int],
        totals: Totals
    ) {
        self.name = name
        self.isPaused = isPaused
        self.ready = ready
        self.scheduled = scheduled
        self.running = running
        self.retrying = retrying
        self.dead = dead
        self.deferred = deferred
        self.oldestReadyMilliseconds = oldestReadyMilliseconds
        self.unknownOperations = unknownOperations
        self.totals = totals
    }
}

/// A session as a queue knows it.
public struct SessionStatus: Sendable, Equatable {
    /// The session's id.
    public var id: String
    /// The host's name.
    public var host: String
    /// The process's id.
    public var pid: Int
    /// How many jobs of this queue it holds.
    public var running: Int
    /// How many jobs it runs at once.
    public var concurrency: Int
    /// How long ago its last heartbeat was, in milliseconds.
    public var lastBeatMilliseconds: Int
    /// The operations it knows.
    public var operations: [String]

    /// Makes a status.
    public init(
        id: String,
        host: String,
        pid: Int,
        running: Int,
        concurrency: Int,
        lastBeatMilliseconds: Int,
        operations: [String]
    ) {
        self.id = id
        self.host = host
        self.pid = pid
        self.running = running
        self.concurrency = concurrency
        self.lastBeatMilliseconds = lastBeatMilliseconds
        self.operations = operations
    }
}

/// A queue's settings. `nil` leaves a setting as it is.
public struct QueueSettings: Sendable, Equatable {
    /// Whether jobs are handed out.
    public var isPaused: Bool?
    /// How many jobs the queue takes at the most. 10,000,000 unless set.
    public var maximumLength: Int?
    /// For how many milliseconds the ids of ended jobs are remembered. 60,000 unless set.
    public var rememberIDsMilliseconds: Int?
    /// For how many milliseconds results and histories are kept. 86,400,000 (a day) unless set.
    public var keepHistoryMilliseconds: Int?
    /// Whether `started` events are published.
    public var publishesStarts: Bool?
    /// How many of the last events the durable stream keeps, 0 to 1,000,000. None unless set.
    public var keptEvents: Int?

    /// Makes settings.
    public init(
        isPaused: Bool? = nil,
        maximumLength: Int? = nil,
        rememberIDsMilliseconds: Int? = nil,
        keepHistoryMilliseconds: Int? = nil,
        publishesStarts: Bool? = nil,
        keptEvents: Int? = nil
    ) {
        self.isPaused = isPaused
        self.maximumLength = maximumLength
        self.rememberIDsMilliseconds = rememberIDsMilliseconds
        self.keepHistoryMilliseconds = keepHistoryMilliseconds
        self.publishesStarts = publishesStarts
        self.keptEvents = keptEvents
    }
}

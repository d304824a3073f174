/// A queue's counts and totals.
public struct QueueStatus: Sendable, Equatable {
    /// The queue's name.
    public var name: String
    /// Whether the queue is paused: no job is claimed until it is resumed.
    public var isPaused: Bool
    /// Ready jobs, including unroutable ones.
    public var ready: Int
    /// Jobs that are due later.
    public var scheduled: Int
    /// Jobs that sessions have claimed, some of which may still wait in them for a free slot.
    public var running: Int
    /// The number of them that have begun to run, at most the concurrency of each session.
    public var executing: Int
    /// Failed jobs that wait for a retry.
    public var retrying: Int
    /// Dead jobs.
    public var dead: Int
    /// Jobs that wait for the end of the running holder of their name.
    public var deferred: Int
    /// Jobs that wait for others of their workflow, including those of workflows that are still being pushed.
    public var blocked: Int
    /// How long the oldest ready job has been waiting, in milliseconds, without unroutable ones.
    public var oldestReadyMilliseconds: Int
    /// How long the oldest unroutable job has been waiting, in milliseconds.
    public var oldestUnroutableMilliseconds: Int
    /// The number of unroutable jobs by operation.
    public var unknownOperations: [String: Int]
    /// Counts since the queue was created.
    public var totals: Totals

    /// Counts since a queue was created.
    public struct Totals: Sendable, Equatable {
        /// Counts by the names of the contract: `pushed`, `dropped`, `replaced`, `finished`, `failed`, `timed_out`,
        /// `cancelled`, `retried`, `recovered`, `released`, `expired`, `skipped`; `dead`, the jobs that became dead, and
        /// `dead_trimmed`, the dead jobs that were deleted because there were too many; `workflow_finished`,
        /// `workflow_failed` and `workflow_cancelled`, the workflows whose home queue it is.
        public var counts: [String: Int]

        /// The names that every broker counts, in the order in which they are displayed.
        public static let names = [
            "pushed", "dropped", "replaced", "finished", "failed", "timed_out", "cancelled", "retried", "recovered",
            "released", "dead", "dead_trimmed", "expired", "skipped", "workflow_finished", "workflow_failed",
            "workflow_cancelled",
        ]

        /// Makes totals.
        public init(counts: [String: Int]) { self.counts = counts }

        /// The count with a name; 0 if nothing was counted.
        public subscript(name: String) -> Int { counts[name] ?? 0 }
    }

    /// Makes a status.
    public init(
        name: String,
        isPaused: Bool,
        ready: Int,
        scheduled: Int,
        running: Int,
        executing: Int = 0,
        retrying: Int,
        dead: Int,
        deferred: Int,
        blocked: Int = 0,
        oldestReadyMilliseconds: Int,
        oldestUnroutableMilliseconds: Int = 0,
        unknownOperations: [String: Int],
        totals: Totals
    ) {
        self.name = name
        self.isPaused = isPaused
        self.ready = ready
        self.scheduled = scheduled
        self.running = running
        self.executing = executing
        self.retrying = retrying
        self.dead = dead
        self.deferred = deferred
        self.blocked = blocked
        self.oldestReadyMilliseconds = oldestReadyMilliseconds
        self.oldestUnroutableMilliseconds = oldestUnroutableMilliseconds
        self.unknownOperations = unknownOperations
        self.totals = totals
    }
}

/// A session and its work in one queue.
public struct SessionStatus: Sendable, Equatable {
    /// The session's id.
    public var id: String
    /// The host's name.
    public var host: String
    /// The process id.
    public var pid: Int
    /// The number of jobs of this queue that it has claimed, some of which may still wait in it for a free slot.
    public var running: Int
    /// The number of them that it has begun to run, at most its concurrency.
    public var executing: Int
    /// The number of jobs that it runs at the same time.
    public var concurrency: Int
    /// The time since its last heartbeat, in milliseconds.
    public var lastBeatMilliseconds: Int
    /// The operations that it can run.
    public var operations: [String]
    /// The number of retries of the operations' jobs that do not set it, as far as it is known.
    public var retries: [String: Int]
    /// When the worker started, in milliseconds since 1970 UTC by its own clock, if that is known.
    public var startedAt: Int64?
    /// The version of the worker's program, if it has one.
    public var version: String?

    /// Makes a status.
    public init(
        id: String,
        host: String,
        pid: Int,
        running: Int,
        executing: Int,
        concurrency: Int,
        lastBeatMilliseconds: Int,
        operations: [String],
        retries: [String: Int] = [:],
        startedAt: Int64? = nil,
        version: String? = nil
    ) {
        self.id = id
        self.host = host
        self.pid = pid
        self.running = running
        self.executing = executing
        self.concurrency = concurrency
        self.lastBeatMilliseconds = lastBeatMilliseconds
        self.operations = operations
        self.retries = retries
        self.startedAt = startedAt
        self.version = version
    }
}

/// A queue's settings. A setting that is `nil` stays unchanged, and 0 restores a default.
public struct QueueSettings: Sendable, Equatable {
    /// Whether the queue is paused: no jobs are claimed.
    public var isPaused: Bool?
    /// The maximum number of jobs in the queue. 10,000,000 by default.
    public var maximumLength: Int?
    /// How many milliseconds the ids of ended jobs are remembered. 60,000 by default.
    public var rememberIDsMilliseconds: Int?
    /// How many milliseconds results and histories are kept. 86,400,000 (a day) by default.
    public var keepHistoryMilliseconds: Int?
    /// Whether `started` events are published.
    public var publishesStarts: Bool?
    /// The number of events that the durable stream keeps, 0 to 1,000,000. 0 by default.
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

extension SessionStatus {
    /// Whether the worker has missed several heartbeats, which it sends at least every 7.5 s: it has died, hangs or
    /// cannot reach the broker. Another worker of its queues takes over its jobs and removes it from the list.
    package var isLost: Bool { lastBeatMilliseconds > 30_000 }
}

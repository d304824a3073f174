/// Queues, concurrency and time limits of a worker.
public struct WorkerConfiguration: Sendable {
    /// A queue and its share of the claims while several queues have work.
    public struct QueueShare: Sendable, Equatable {
        /// The queue.
        public var name: String
        /// The weight, at least 1.
        public var weight: Int

        /// Makes a share.
        public init(_ name: String, weight: Int = 1) {
            self.name = name
            self.weight = max(1, weight)
        }
    }

    /// The queues to serve. If a queue occurs twice, its first share is used. If empty, the worker serves the queues of
    /// the registered operations and of its schedules, and "default".
    public var queues: [QueueShare]
    /// The number of jobs that run at the same time.
    public var concurrency: Int
    /// How long claims last without a heartbeat. At least 500 ms.
    public var lease: Duration
    /// How long a graceful shutdown may take in total. Its last part is for stopping jobs that have not finished: the
    /// stop grace and a second, but at most a quarter of the grace. At the end, commands that still run are killed, and
    /// the jobs of handlers that still run are released.
    public var grace: Duration
    /// How long a claimed job may wait for a free slot before it is released.
    public var longestWait: Duration
    /// How long a run may take to stop after it was asked to. After that its slot is freed, and nothing that it still
    /// reports counts.
    public var stopGrace: Duration
    /// The longest pause between two calls for work without a wake-up: half a second by default, and as much more for
    /// each further 50 queues. Every new job sends a wake-up, so this matters only if wake-ups are lost.
    public var longestPoll: Duration
    /// How many handlers may keep running after they were asked to stop. With that many the worker stops claiming, lets
    /// the others finish, and `run()` throws ``WorkerStuck``, so that a supervisor can restart the process. By default
    /// 16, or twice the concurrency if that is more.
    public var mostOverruns: Int
    /// How long handlers may block every thread of the task pool. After that the worker stops the heartbeats, so that
    /// other workers get its jobs, and reports that it is stuck. A minute by default.
    public var stuckAfter: Duration
    /// Whether the worker logs a line, at the level `info`, for each job that has finished. It always logs what needs
    /// attention: runs that fail, jobs that are dead, released, cancelled or recovered, and a broker that does not reply.
    public var logsFinishedJobs: Bool
    /// The version of the program, which operators see beside its workers; empty for none. At most 64 bytes of it are
    /// kept.
    public var version: String
    /// Ends the processes that handlers have started, before jobs that are still held are released. Returns `false` if
    /// one of them could not be ended in time.
    package var endProcesses: @Sendable () async -> Bool = { true }

    /// Makes a configuration.
    public init(
        queues: [QueueShare] = [],
        concurrency: Int = 8,
        lease: Duration = .seconds(30),
        grace: Duration = .seconds(25),
        longestWait: Duration = .seconds(2),
        stopGrace: Duration = .milliseconds(2500),
        longestPoll: Duration = .milliseconds(500),
        mostOverruns: Int? = nil,
        stuckAfter: Duration = .seconds(60),
        logsFinishedJobs: Bool = false,
        version: String = ""
    ) {
        self.queues = queues.unique
        self.concurrency = max(1, concurrency)
        self.lease = max(lease, .milliseconds(500))
        self.grace = max(grace, .zero)
        self.longestWait = longestWait
        self.stopGrace = stopGrace
        self.longestPoll = longestPoll
        self.mostOverruns = max(1, mostOverruns ?? max(16, 2 * self.concurrency))
        self.stuckAfter = max(stuckAfter, .seconds(2))
        self.logsFinishedJobs = logsFinishedJobs
        self.version = version
    }
}

extension WorkerConfiguration {
    /// Returns the configuration with its queues determined.
    func serving(_ operations: some Sequence<RegisteredOperation>, _ schedules: [Schedule]) -> WorkerConfiguration {
        var settled = self
        // `queues` can be set directly and contain a queue twice. Two pollers of one session would then mix up their
        // calls.
        settled.queues = queues.unique
        guard queues.isEmpty else { return settled }
        let named = Set(operations.compactMap(\.queue) + schedules.map(\.queue) + ["default"])
        settled.queues = named.sorted().map { QueueShare($0) }
        return settled
    }
}

extension [WorkerConfiguration.QueueShare] {
    /// The first share of each queue.
    fileprivate var unique: Self {
        reduce(into: []) { unique, share in
            if !unique.contains(where: { $0.name == share.name }) { unique.append(share) }
        }
    }
}

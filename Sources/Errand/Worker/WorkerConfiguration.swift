/// How a worker works.
public struct WorkerConfiguration: Sendable {
    /// A queue and its share of the claims while several queues have work.
    public struct QueueShare: Sendable, Equatable {
        /// The queue.
        public var name: String
        /// Its weight, from 1.
        public var weight: Int

        /// Makes a share.
        public init(_ name: String, weight: Int = 1) {
            self.name = name
            self.weight = max(1, weight)
        }
    }

    /// The queues to serve; of shares of the same queue the first counts. When there is none: those of the registered
    /// operations, and "default".
    public var queues: [QueueShare]
    /// How many jobs run at once.
    public var concurrency: Int
    /// How long claims live without a heartbeat. At least 500 ms.
    public var lease: Duration
    /// How long a graceful shutdown may take in all. Its last part is for stopping what has not ended by itself: the stop
    /// grace and a second, but no more than a quarter. What has not stopped when the grace is over is left behind: commands
    /// are killed, and the jobs of handlers are released.
    public var grace: Duration
    /// How long a claimed job may wait for a free slot before it is given back.
    public var longestWait: Duration
    /// How long a run may take to stop after it was told to; then its slot is opened and what it still does cannot
    /// count.
    public var stopGrace: Duration
    /// The longest pause between two looks for work when no hint arrives: half a second unless set. A hint comes with the
    /// work, so this counts only when hints are lost.
    public var longestPoll: Duration
    /// How many handlers may run on after they were told to stop before the worker gives up: it stops claiming, lets the
    /// others end, and `run()` throws ``WorkerStuck``, so that whoever supervises it starts it anew. 16, or twice the
    /// concurrency if that is more, unless set.
    public var mostOverruns: Int
    /// For how long handlers may block every thread of the task pool before the session stops beating, so that its jobs go
    /// to other workers, and the worker says that it is stuck. A minute unless set.
    public var stuckAfter: Duration
    /// Ends the processes that handlers have started, before what is still held is released; answers `false` if one could
    /// not be ended in time.
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
        stuckAfter: Duration = .seconds(60)
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
    }
}

extension WorkerConfiguration {
    /// The same with its queues settled.
    func serving(_ operations: some Sequence<RegisteredOperation>, _ schedules: [Schedule]) -> WorkerConfiguration {
        var settled = self
        // Set one by one they may name a queue twice, and two pollers of one session would take each other's calls for their own.
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

/// What a broker has kept about a queue's past, for charts and percentiles.
public struct QueueStatistics: Sendable, Equatable {
    /// The largest number of operations whose runs are kept apart in a queue. Those of others are added up as
    /// ``otherOperations``.
    public static let mostOperations = 50
    /// Stands for all operations beyond the first ``mostOperations``.
    public static let otherOperations = "*"

    /// The counts of the queue at a time. Rates are the differences between two samples.
    public struct Sample: Sendable, Equatable {
        /// When it was taken, in milliseconds since 1970 UTC by the broker's clock.
        public var at: Int64
        /// The number of ready jobs.
        public var ready = 0
        /// The number of jobs that are due later.
        public var scheduled = 0
        /// The number of jobs that wait for a retry.
        public var retrying = 0
        /// The number of jobs that wait for the end of the running holder of their name.
        public var deferred = 0
        /// The number of dead jobs.
        public var dead = 0
        /// How long the oldest ready job had been waiting, in milliseconds.
        public var oldestReadyMilliseconds = 0
        /// The number of jobs pushed since the queue was created.
        public var pushed = 0
        /// The number of runs that finished since the queue was created.
        public var finished = 0
        /// The number of runs that failed since the queue was created.
        public var failed = 0
        /// The number of runs that timed out since the queue was created.
        public var timedOut = 0
        /// The number of jobs that were cancelled since the queue was created.
        public var cancelled = 0
        /// The number of jobs that became dead since the queue was created.
        public var died = 0

        /// Makes a sample of an empty queue.
        public init(at: Int64) { self.at = at }
    }

    /// The runs of an operation that ended within a bucket.
    public struct Runs: Sendable, Equatable {
        /// The beginning of the bucket, in milliseconds since 1970 UTC.
        public var from: Int64
        /// The operation, or ``QueueStatistics/otherOperations``.
        public var operation: String
        /// The outcomes and durations.
        public var statistics: RunStatistics

        /// Makes an entry.
        public init(from: Int64, operation: String, statistics: RunStatistics) {
            (self.from, self.operation, self.statistics) = (from, operation, statistics)
        }
    }

    /// One sample from each bucket in which a worker served the queue, oldest first; at last one of the present.
    public var samples: [Sample]
    /// The runs by bucket, oldest first, and by operation.
    public var runs: [Runs]

    /// Makes statistics.
    public init(samples: [Sample] = [], runs: [Runs] = []) { (self.samples, self.runs) = (samples, runs) }

    /// The runs of each operation, from all buckets.
    public var byOperation: [String: RunStatistics] {
        runs.reduce(into: [:]) { $0[$1.operation, default: RunStatistics()].merge($1.statistics) }
    }

    /// The runs of all operations.
    public var all: RunStatistics {
        runs.reduce(into: RunStatistics()) { $0.merge($1.statistics) }
    }
}

extension QueueStatistics.Sample {
    private static let counts: [any WritableKeyPath<Self, Int> & Sendable] = [
        \.ready, \.scheduled, \.retrying, \.deferred, \.dead, \.oldestReadyMilliseconds, \.pushed, \.finished, \.failed,
        \.timedOut, \.cancelled, \.died,
    ]

    /// Reads a sample in the stored form: its time and its counts in this order, separated by spaces; `nil` if it is
    /// invalid. Later versions may add more.
    package init?(text: String) {
        let numbers = text.split(separator: " ").prefix(1 + Self.counts.count).compactMap { Int($0) }
        guard numbers.count == 1 + Self.counts.count, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(at: Int64(numbers[0]))
        for (count, number) in zip(Self.counts, numbers.dropFirst()) { self[keyPath: count] = number }
    }

    /// Makes a sample of a status.
    package init(_ status: QueueStatus, at time: Int64) {
        self.init(at: time)
        (ready, scheduled, retrying) = (status.ready, status.scheduled, status.retrying)
        (deferred, dead) = (status.deferred, status.dead)
        oldestReadyMilliseconds = status.oldestReadyMilliseconds
        (pushed, finished) = (status.totals["pushed"], status.totals["finished"])
        (failed, timedOut) = (status.totals["failed"], status.totals["timed_out"])
        (cancelled, died) = (status.totals["cancelled"], status.totals["dead"])
    }
}

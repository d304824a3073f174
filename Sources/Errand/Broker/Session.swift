/// A number that grows with every claim: the fence. A finish with an old token changes nothing.
public typealias Token = UInt64

/// A registration of a worker process with the broker.
///
/// A worker that lost its session (it was cut off or stopped for longer than its lease) registers a new one and goes
/// on.
public struct Session: Sendable, Equatable {
    /// A random id, new for every registration.
    public let id: String
    /// The host's name.
    public let host: String
    /// The process's id.
    public let pid: Int32
    /// How many jobs the worker runs at once.
    public let concurrency: Int
    /// The queues it serves.
    public let queues: [String]
    /// How long its claims live without a heartbeat.
    public let lease: Duration
    /// The operations it can run, with what applies to a job that does not say it itself.
    public let operations: [String: OperationDefaults]

    /// Makes a session.
    public init(
        id: String,
        host: String,
        pid: Int32,
        concurrency: Int,
        queues: [String],
        lease: Duration,
        operations: [String: OperationDefaults]
    ) {
        self.id = id
        self.host = host
        self.pid = pid
        self.concurrency = concurrency
        self.queues = queues
        self.lease = lease
        self.operations = operations
    }
}

/// What a worker settles for jobs that do not say it themselves.
public struct OperationDefaults: Sendable, Equatable {
    /// How long a run may take. 10 s unless said, as in Backgroundable.
    public var timeout: Duration
    /// How often a failed run is retried. 3 unless said.
    public var retries: Int

    /// Makes defaults.
    public init(timeout: Duration = .seconds(10), retries: Int = 3) {
        self.timeout = timeout
        self.retries = retries
    }
}

import ErrandText

/// The number of a claim, which grows with every claim. A report with an old token is rejected.
public typealias Token = UInt64

/// A registration of a worker process with the broker.
///
/// A worker that has lost its session, because it was disconnected or stopped for longer than its lease, registers a
/// new one and continues.
public struct Session: Sendable, Equatable {
    /// A random id, new for every registration.
    public let id: String
    /// The host's name.
    public let host: String
    /// The process id.
    public let pid: Int32
    /// The number of jobs that the worker runs at the same time.
    public let concurrency: Int
    /// The queues that it serves.
    public let queues: [String]
    /// How long its claims last without a heartbeat.
    public let lease: Duration
    /// The operations that it can run, with defaults for jobs that do not set these values.
    public let operations: [String: OperationDefaults]
    /// When the worker started, in milliseconds since 1970 UTC by its own clock; 0 if that is not known.
    public let startedAt: Int64
    /// The version of the worker's program, for operators; empty if it has none. At most 64 bytes of it are kept.
    public let version: String

    /// Makes a session.
    public init(
        id: String,
        host: String,
        pid: Int32,
        concurrency: Int,
        queues: [String],
        lease: Duration,
        operations: [String: OperationDefaults],
        startedAt: Int64 = 0,
        version: String = ""
    ) {
        self.id = id
        self.host = host
        self.pid = pid
        self.concurrency = concurrency
        self.queues = queues
        self.lease = lease
        self.operations = operations
        self.startedAt = max(0, startedAt)
        self.version = version.printable.clipped(toUTF8: 64)
    }
}

/// A worker's defaults for jobs of an operation that do not set these values.
public struct OperationDefaults: Sendable, Equatable {
    /// How long a run may take. 10 s by default, as in Backgroundable.
    public var timeout: Duration
    /// The number of retries after a failed run. 3 by default.
    public var retries: Int

    /// Makes defaults.
    public init(timeout: Duration = .seconds(10), retries: Int = 3) {
        self.timeout = timeout
        self.retries = retries
    }
}

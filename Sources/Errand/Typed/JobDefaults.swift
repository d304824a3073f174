/// What applies to all jobs of a type that do not say it themselves; see ``JobParameters/jobDefaults``.
public struct JobDefaults: Sendable, Equatable {
    /// The queue; "default" unless set. A worker that was not told its queues serves those of its registered jobs.
    public var queue: String?
    /// How long a run may take; 10 s unless set here or where the job is registered.
    public var timeout: Duration?
    /// How often a failed run is retried, 0 to 1,000; three times unless set here or where the job is registered.
    public var retries: Int?
    /// How long to wait before each retry. A retry strategy given where the job is registered takes precedence, and a job's own
    /// ``PushOptions/backoff`` over both.
    public var backoff: RetryDelays?
    /// 0 to 9, 9 first; 5 unless set.
    public var priority: Int?
    /// Whether and by what jobs of this type are unique; not unless set.
    public var uniqueness: JobUniqueness?

    /// Makes defaults.
    public init(
        queue: String? = nil,
        timeout: Duration? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        uniqueness: JobUniqueness? = nil
    ) {
        self.queue = queue
        self.timeout = timeout
        self.retries = retries
        self.backoff = backoff
        self.priority = priority
        self.uniqueness = uniqueness
    }
}

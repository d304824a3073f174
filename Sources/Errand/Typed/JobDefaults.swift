/// Defaults for the jobs of a type; see ``JobParameters/jobDefaults``.
public struct JobDefaults: Sendable, Equatable {
    /// The queue; "default" if `nil`. A worker without configured queues serves those of its registered jobs.
    public var queue: String?
    /// How long a run may take; if `nil`, as set where the job is registered, or 10 s.
    public var timeout: Duration?
    /// How long after the push a job expires unless a worker has claimed it, 1 ms to 365 days; it does not if `nil`.
    public var expiresIn: Duration?
    /// The number of retries after a failed run, 0 to 1,000; if `nil`, as set where the job is registered, or 3.
    public var retries: Int?
    /// The delay before each retry. A retry strategy given where the job is registered takes precedence, and a job's
    /// own ``PushOptions/backoff`` over both.
    public var backoff: RetryDelays?
    /// The priority, 0 to 9; jobs with higher numbers run first. 5 if `nil`.
    public var priority: Int?
    /// The group of a job, whose limits and share of the workers it has; none if `nil`.
    public var group: JobGrouping?
    /// What a job is charged in its group's share, 1 to 1,000,000; 1 if `nil`.
    public var cost: Int?
    /// Whether jobs of this type are unique, and by which fields; not unique if `nil`.
    public var uniqueness: JobUniqueness?
    /// Words by which operators find the jobs. A push adds its own ``PushOptions/tags``; together at most 8 of 1 to 64
    /// bytes each.
    public var tags: [String]

    /// Makes defaults.
    public init(
        queue: String? = nil,
        timeout: Duration? = nil,
        expiresIn: Duration? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        group: JobGrouping? = nil,
        cost: Int? = nil,
        uniqueness: JobUniqueness? = nil,
        tags: [String] = []
    ) {
        self.queue = queue
        self.timeout = timeout
        self.expiresIn = expiresIn
        self.retries = retries
        self.backoff = backoff
        self.priority = priority
        self.group = group
        self.cost = cost
        self.uniqueness = uniqueness
        self.tags = tags
    }
}

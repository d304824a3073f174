public import Foundation

/// Options of one push. Options that are not set come from ``JobParameters/jobDefaults``.
///
/// ```swift
/// try await producer.push(SendEmail(to: "ada@example.org"), options: .init(delay: .seconds(600), priority: 9))
/// ```
public struct PushOptions: Sendable {
    /// The queue.
    public var queue: String?
    /// The name for uniqueness, 1 to 1,024 bytes, instead of one made from the arguments.
    public var name: String?
    /// Whether the job is unique, and by which fields.
    public var uniqueness: JobUniqueness?
    /// How long to wait after the push before the job may run, by the broker's clock. A push with a delay first asks
    /// the broker for its time.
    public var delay: Duration?
    /// The earliest time at which the job may run, by the broker's clock. It takes precedence over ``delay``.
    public var delayUntil: Date?
    /// How long a run may take, 1 ms to 365 days.
    public var timeout: Duration?
    /// How long after the push the job expires unless a worker has claimed it, 1 ms to 365 days.
    public var expiresIn: Duration?
    /// The number of retries after a failed run, 0 to 1,000.
    public var retries: Int?
    /// The delay before each retry, instead of the type's or the worker's.
    public var backoff: RetryDelays?
    /// The priority, 0 to 9; jobs with higher numbers run first.
    public var priority: Int?
    /// The group, instead of the one that ``JobDefaults/group`` makes from the arguments: one or two parts with a slash
    /// between, each of 1 to 64 characters of `A-Z a-z 0-9 _ . : @ + -`.
    public var group: String?
    /// What the job is charged in its group's share, 1 to 1,000,000.
    public var cost: Int?
    /// The job's id, 1 to 64 characters of `A-Z a-z 0-9 _ -`. Leave it out in a batch, because each job needs its own.
    public var id: String?
    /// Words by which operators find the job, besides those of ``JobDefaults/tags``: together at most 8 of 1 to 64 bytes
    /// each.
    public var tags: [String]
    /// Additional data that is stored with the arguments.
    public var meta: [String: String]

    /// Makes options.
    public init(
        queue: String? = nil,
        name: String? = nil,
        uniqueness: JobUniqueness? = nil,
        delay: Duration? = nil,
        delayUntil: Date? = nil,
        timeout: Duration? = nil,
        expiresIn: Duration? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        group: String? = nil,
        cost: Int? = nil,
        id: String? = nil,
        tags: [String] = [],
        meta: [String: String] = [:]
    ) {
        self.queue = queue
        self.name = name
        self.uniqueness = uniqueness
        self.timeout = timeout
        self.expiresIn = expiresIn
        self.retries = retries
        self.backoff = backoff
        self.priority = priority
        self.group = group
        self.cost = cost
        self.id = id
        self.tags = tags
        self.meta = meta
        self.delay = delay
        self.delayUntil = delayUntil
    }

    /// Whether the time of the push determines when the job may run.
    var hasDelay: Bool { delay != nil && delayUntil == nil }

    /// Returns the earliest time at which the job may run, in milliseconds since 1970 UTC.
    ///
    /// - Parameter now: the time of the push.
    func notBefore(_ now: Date) -> Int64? {
        if let delayUntil { return DescriptionRules.notBefore(delayUntil) }
        return delay.map { DescriptionRules.notBefore(now) + Int64(max(0, $0.wholeMilliseconds)) }
    }
}

public import Foundation

/// What is special about one job, or one batch of jobs. What is left out comes from ``JobParameters/jobDefaults``.
///
/// ```swift
/// try await producer.push(SendEmail(to: "ada@example.org"), options: .init(delay: .seconds(600), priority: 9))
/// ```
public struct PushOptions: Sendable {
    /// The queue.
    public var queue: String?
    /// The name for uniqueness, 1 to 1,024 bytes, instead of one made of the arguments.
    public var name: String?
    /// Whether and by what the job is unique.
    public var uniqueness: JobUniqueness?
    /// How long to wait before the job may run, from the push on; by the broker's clock, for which a delayed push asks first.
    public var delay: Duration?
    /// The earliest time to run, by the broker's clock; counts instead of ``delay`` when both are there.
    public var delayUntil: Date?
    /// How long a run may take, 1 ms to 365 days.
    public var timeout: Duration?
    /// How often a failed run is tried again, 0 to 1,000.
    public var retries: Int?
    /// How long to wait before each retry, instead of what the type or its worker says.
    public var backoff: RetryDelays?
    /// 0 to 9, 9 first.
    public var priority: Int?
    /// The job's id, 1 to 64 characters of `A-Z a-z 0-9 _ -`; of a batch each job needs its own, so leave it out there.
    public var id: String?
    /// What travels along beside the arguments.
    public var meta: [String: String]

    /// Makes options.
    public init(
        queue: String? = nil,
        name: String? = nil,
        uniqueness: JobUniqueness? = nil,
        delay: Duration? = nil,
        delayUntil: Date? = nil,
        timeout: Duration? = nil,
        retries: Int? = nil,
        backoff: RetryDelays? = nil,
        priority: Int? = nil,
        id: String? = nil,
        meta: [String: String] = [:]
    ) {
        self.queue = queue
        self.name = name
        self.uniqueness = uniqueness
        self.timeout = timeout
        self.retries = retries
        self.backoff = backoff
        self.priority = priority
        self.id = id
        self.meta = meta
        self.delay = delay
        self.delayUntil = delayUntil
    }

    /// The earliest time to run, in milliseconds since 1970 UTC.
    ///
    /// - Parameter now: the time of the push.
    func notBefore(_ now: Date) -> Int64? {
        if let delayUntil { return DescriptionRules.notBefore(delayUntil) }
        return delay.map { DescriptionRules.notBefore(now) + Int64(max(0, $0.wholeMilliseconds)) }
    }
}

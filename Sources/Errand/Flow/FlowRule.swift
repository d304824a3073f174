/// A rule for the groups of a queue, or for the whole queue; see ``ConsoleBroker/setFlow(_:matching:_:)``.
///
/// Limits are decided before a job is claimed, by the server that claims it, so they hold whatever happens to workers.
///
/// ```swift
/// try await broker.setFlow("mail", matching: "tenant-*", FlowRule(atOnce: 4, rate: .perSecond(100, burst: 20)))
/// try await broker.setFlow("mail", matching: "tenant-7", FlowRule(atOnce: 20, weight: 3))
/// ```
public struct FlowRule: Sendable, Equatable {
    /// How many jobs of the group may be claimed at the same time, 1 to 1,000,000; no limit if `nil`.
    public var atOnce: Int?
    /// How many jobs of the group may start in a time; no limit if `nil`.
    public var rate: FlowRate?
    /// The group's share of the workers relative to that of others, 1 to 1,000; 1 if `nil`. The whole queue has none.
    public var weight: Int?

    /// Whether the group's jobs run one at a time, in order, and what happens when one is dead; `nil` if they do not. The
    /// whole queue has no order.
    public var order: FlowOrder?
    /// Whether groups are charged the measured run times of their jobs instead of the jobs' costs, so that a group with
    /// long jobs has no more of the workers than others. Only the whole queue has this rule.
    public var isFairByTime: Bool
    /// How many jobs of the group may be ready, 1 to 10,000,000: further pushes are refused, job by job, with
    /// ``BrokerError/Code/full``. Jobs that are not due yet, those of schedules and those that return do not count as pushes.
    /// No limit if `nil`. That of the whole queue is one of its settings.
    public var maxWaiting: Int?

    /// Makes a rule. Values that are not given do not restrict the group.
    public init(
        atOnce: Int? = nil,
        rate: FlowRate? = nil,
        weight: Int? = nil,
        order: FlowOrder? = nil,
        isFairByTime: Bool = false,
        maxWaiting: Int? = nil
    ) {
        self.maxWaiting = maxWaiting
        self.order = order
        self.isFairByTime = isFairByTime
        self.atOnce = atOnce
        self.rate = rate
        self.weight = weight
    }

    /// Whether it restricts how many jobs are claimed. Such jobs are claimed only for a free slot of a worker.
    var hasLimit: Bool { mostAtOnce != nil || rate != nil }

    /// How many jobs may be claimed at the same time.
    var mostAtOnce: Int? { order == nil ? atOnce : 1 }

    static let atOnceLimits = 1...1_000_000
    static let weightLimits = 1...1000
    static let waitingLimits = 1...10_000_000
    /// The most rules of a queue.
    static let mostRules = 1000

    /// Throws if a value is outside its range, or is not for the whole queue although the pattern is.
    package func check(for pattern: FlowMatching) throws(BrokerError) {
        guard !pattern.isWholeQueue || (weight == nil && order == nil) else {
            throw BrokerError(
                .refused,
                "a rule for the whole queue cannot have \(weight == nil ? "an order" : "a weight"); name groups in the pattern, such "
                    + "as tenant-*"
            )
        }
        guard maxWaiting.map(Self.waitingLimits.contains) ?? true else {
            throw BrokerError(.refused, "the most waiting jobs of a rule must be 1 to 10000000")
        }
        guard !pattern.isWholeQueue || maxWaiting == nil else {
            throw BrokerError(
                .refused,
                "a rule for the whole queue cannot limit waiting jobs; limit the queue with errand queue limit"
            )
        }
        guard pattern.isWholeQueue || !isFairByTime else {
            throw BrokerError(.refused, "shares by run time are set for the whole queue only; leave the pattern empty")
        }
        guard atOnce.map(Self.atOnceLimits.contains) ?? true else {
            throw BrokerError(.refused, "a rule must allow 1 to 1000000 jobs at once")
        }
        guard order == nil || atOnce ?? 1 == 1 else {
            throw BrokerError(
                .refused,
                "the jobs of an ordered group run one at a time; leave the limit of jobs at once out, or set it to 1"
            )
        }
        try rate?.check()
        guard weight.map(Self.weightLimits.contains) ?? true else {
            throw BrokerError(.refused, "the weight of a rule must be 1 to 1000")
        }
    }
}

/// What happens in an ordered group when one of its jobs is dead.
///
/// The jobs of an ordered group start in the order of their pushes, delayed jobs in that of their due times, and each
/// only when the one before has ended, including its retries. Priorities do not count within the group.
public enum FlowOrder: String, Sendable, CaseIterable {
    /// The group waits until somebody retries or deletes the dead job.
    case holdDead = "hold"
    /// The group goes on with the next job.
    case skipDead = "skip"
}

/// A rule and the groups that it is for.
public struct FlowPattern: Sendable, Equatable {
    /// The pattern of the groups' names, in which `*` stands for any characters but a slash; empty for the whole queue.
    public let pattern: String
    /// The rule.
    public let rule: FlowRule

    package init(pattern: String, rule: FlowRule) {
        self.pattern = pattern
        self.rule = rule
    }
}

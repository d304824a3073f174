/// A rule for the groups of a queue; see ``ConsoleBroker/setFlow(_:matching:_:)``.
///
/// Limits are decided before a job is claimed, by the server that claims it, so they hold whatever happens to workers.
///
/// ```swift
/// try await broker.setFlow("mail", matching: "tenant-*", FlowRule(atOnce: 4))
/// try await broker.setFlow("mail", matching: "tenant-7", FlowRule(atOnce: 20, weight: 3))
/// ```
public struct FlowRule: Sendable, Equatable {
    /// How many jobs of the group may be claimed at the same time, 1 to 1,000,000; no limit if `nil`.
    public var atOnce: Int?
    /// The group's share of the workers relative to that of others, 1 to 1,000; 1 if `nil`.
    public var weight: Int?

    /// Makes a rule. Values that are not given do not restrict the group.
    public init(atOnce: Int? = nil, weight: Int? = nil) {
        self.atOnce = atOnce
        self.weight = weight
    }

    static let atOnceLimits = 1...1_000_000
    static let weightLimits = 1...1000
    /// The most rules of a queue.
    static let mostRules = 1000

    /// Throws if a value is outside its range.
    package func check() throws(BrokerError) {
        guard atOnce.map(Self.atOnceLimits.contains) ?? true else {
            throw BrokerError(.refused, "the jobs at once of a rule must be 1 to 1000000")
        }
        guard weight.map(Self.weightLimits.contains) ?? true else {
            throw BrokerError(.refused, "the weight of a rule must be 1 to 1000")
        }
    }
}

/// A rule and the groups that it is for.
public struct FlowPattern: Sendable, Equatable {
    /// The pattern of the groups' names, in which `*` stands for any characters.
    public let pattern: String
    /// The rule.
    public let rule: FlowRule

    package init(pattern: String, rule: FlowRule) {
        self.pattern = pattern
        self.rule = rule
    }
}

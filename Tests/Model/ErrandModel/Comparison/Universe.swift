package import Errand

/// The texts that occur in histories.
package struct Universe: Sendable {
    package static let idCount = 24
    package static let sessionCount = 5
    package static let nameCount = 3

    /// Names of queues are all of this length, so that events are too.
    package let queue: String
    /// Of one length, so that their order is that of the numbers.
    package let ids = (0..<Self.idCount).map { "j" + String($0 + 100).dropFirst() }
    package let sessions = (0..<Self.sessionCount).map { "session-\($0)" }
    package let names = (0..<Self.nameCount).map { "name \($0)" }
    package let operations = ["op0", "op1"]
    /// The tokens of workflows, which have the digits 1 to 4.
    static let workflows = (1...4).map { "workflow0000000\($0)" }
    static let workflowNames = ["import", "export"]
    /// First parts, and groups below them.
    static let groups = ["g0", "g1", "g0/u0", "g0/u1", "g1/u0"]
    static let patterns = ["g*", "g0", "g*/*", "g0/u*", ""]
    static let error = "reason"
    static let result = Array("result".utf8)

    package init(queue number: Int = 0) { queue = "q" + String(10_000_000 + number) }
}

/// A job before it is made into an envelope.
package struct Push: Sendable {
    package let id: String
    package var policy = UniquenessPolicy.ignore
    /// There unless the policy is `ignore`.
    package var name: String?
    /// Whether the name is held until the first claim only.
    package var isUniqueUntilStarted = false
    /// There if the policy needs one.
    package var window: Time?
    package var atMost: Time?
    package var priority = 5
    package var operation = "op0"
    package var timeout: Time?
    package var retries: Int?
    package var expiresIn: Time?
    package var group: String?
    package var cost: Int?
    /// The earliest time to run; 0 for now.
    package var due: Time = 0

    package init(id: String) { self.id = id }

    package func envelope() throws -> JobEnvelope {
        try OperationDescription(
            operation,
            name: name,
            unique: policy,
            uniqueUntil: isUniqueUntilStarted ? .started : nil,
            window: window.map { .milliseconds($0) },
            atMost: atMost.map { .milliseconds($0) },
            timeout: timeout.map { .milliseconds($0) },
            expiresIn: expiresIn.map { .milliseconds($0) },
            retries: retries,
            priority: priority,
            group: group,
            cost: cost,
            id: id
        ).makeEnvelope().due(at: due)
    }
}

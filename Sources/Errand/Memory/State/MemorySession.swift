/// A stored session.
struct MemorySession: Sendable {
    let id: String
    let host: String
    let pid: Int32
    let concurrency: Int
    let operations: [String: OperationDefaults]
    /// The lease in milliseconds.
    let lease: Int64
    var leaseEnds: Int64
    var lastBeat: Int64
    /// Claims with tokens up to this one have begun.
    var begun: Token = 0
    var claims: [String: MemoryClaim] = [:]
    var lastCall: LastCall?
    /// Set if a push may pre-answer the next call, because the last one found no jobs: how long a claim may wait and
    /// take to stop, in milliseconds.
    var openCall: Int64?
    /// The token of the claim with which a push has pre-answered the next call.
    var handedToken: Token?

    /// The data for the reply to a repeated call.
    struct LastCall: Sendable {
        let number: Int
        let token: Token?
        let accepted: [Bool]
        /// Whether a push had pre-answered the call.
        var isPreanswered = false
    }

    /// The number of the last call with a reply, including a pre-answered one.
    var lastAnswered: Int { (lastCall?.number ?? 0) + (handedToken == nil ? 0 : 1) }

    /// The longest default timeout that a job without one of its own may have.
    var longestTimeout: Int64 {
        MemoryRules.milliseconds(operations.values.map(\.timeout).max() ?? OperationDefaults().timeout)
    }

    /// The claims in the order in which they were made.
    var claimsInOrder: [(id: String, claim: MemoryClaim)] {
        claims.map { (id: $0.key, claim: $0.value) }.sorted { $0.claim.number < $1.claim.number }
    }
}

/// The record that a session may run a job.
struct MemoryClaim: Sendable {
    let token: Token
    /// When the claim was made. The token does not have that time: tokens are ahead of a clock that was set back.
    let made: Int64
    let hardDeadline: Int64
    /// The number of the claim in the queue.
    let number: Int
}

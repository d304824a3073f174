/// A session as the broker keeps it.
struct MemorySession: Sendable {
    let id: String
    let host: String
    let pid: Int32
    let concurrency: Int
    let operations: [String: OperationDefaults]
    /// In milliseconds.
    let lease: Int64
    var leaseEnds: Int64
    var lastBeat: Int64
    /// Claims with tokens up to this one have begun.
    var begun: Token = 0
    var claims: [String: MemoryClaim] = [:]
    var lastCall: LastCall?

    /// What a resend of the last call is answered with.
    struct LastCall: Sendable {
        let number: Int
        let token: Token?
        let accepted: [Bool]
    }

    /// The default timeout that a job without one of its own may get, at the most.
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
    let hardDeadline: Int64
    /// Counts the claims of the queue.
    let number: Int
}

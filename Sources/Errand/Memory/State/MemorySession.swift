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
    /// What a push must know to answer the next call, when the last one found nothing to begin: how long a claim may wait and
    /// take to stop, in milliseconds.
    var openCall: Int64?
    /// The token of the claim with which a push has answered the next call.
    var handedToken: Token?

    /// What a resend of the last call is answered with.
    struct LastCall: Sendable {
        let number: Int
        let token: Token?
        let accepted: [Bool]
        /// Whether a push had answered it before it came.
        var isPreanswered = false
    }

    /// The number of the last call that was answered, by a push also.
    var lastAnswered: Int { (lastCall?.number ?? 0) + (handedToken == nil ? 0 : 1) }

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
    /// When it was made. Its token cannot tell: tokens run ahead of a clock that was put back.
    let made: Int64
    let hardDeadline: Int64
    /// Counts the claims of the queue.
    let number: Int
}

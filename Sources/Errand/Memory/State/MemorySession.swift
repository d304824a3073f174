/// A stored session.
package struct MemorySession: Sendable, Equatable {
    package let id: String
    package let host: String
    package let pid: Int32
    package let concurrency: Int
    package let operations: [String: OperationDefaults]
    let startedAt: Int64
    let version: String
    /// The lease in milliseconds.
    package let lease: Int64
    package var leaseEnds: Int64
    package var lastBeat: Int64
    /// Claims with tokens up to this one have begun.
    package var begun: Token = 0
    package var claims: [String: MemoryClaim] = [:]
    package var lastCall: LastCall?
    /// Set if a push may pre-answer the next call, because the last one found no jobs: how long a claim may wait and
    /// take to stop, in milliseconds.
    package var dispatchTerms: Int64?
    /// The token of the claim with which a push has pre-answered the next call.
    package var dispatchedToken: Token?

    /// The data for the reply to a repeated call.
    package struct LastCall: Sendable, Equatable {
        package let number: Int
        package let token: Token?
        package let accepted: [Bool]
        /// Whether a push had pre-answered the call.
        package var isPreanswered = false
    }

    /// The number of the last call with a reply, including a pre-answered one.
    package var lastReplied: Int { (lastCall?.number ?? 0) + (dispatchedToken == nil ? 0 : 1) }

    /// The longest default timeout that a job without one of its own may have.
    var longestTimeout: Int64 {
        MemoryRules.milliseconds(operations.values.map(\.timeout).max() ?? OperationDefaults().timeout)
    }

    /// The claims in the order in which they were made.
    package var claimsInOrder: [(id: String, claim: MemoryClaim)] {
        let held = claims.map { (id: $0.key, claim: $0.value) }
        return held.count < 2 ? held : held.sorted { $0.claim.number < $1.claim.number }
    }
}

/// The record that a session may run a job.
package struct MemoryClaim: Sendable, Equatable {
    package let token: Token
    /// When the claim was made. The token does not have that time: tokens are ahead of a clock that was set back.
    package let made: Int64
    package let hardDeadline: Int64
    /// The number of the claim in the queue.
    let number: Int
    /// What its group was charged in advance, if that is by run time.
    let charge: MemoryCharge?
}

/// What a claim was charged in advance for its run time.
package struct MemoryCharge: Sendable, Equatable {
    /// The priority in whose order the job was claimed.
    let level: Int
    let milliseconds: Int64
}

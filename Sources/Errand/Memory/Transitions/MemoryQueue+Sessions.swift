/// Register, beat and release: the life of a session.
extension MemoryQueue {
    package mutating func register(_ session: Session) throws(BrokerError) {
        let lease = MemoryRules.milliseconds(session.lease)
        try check(session, lease: lease)
        pulse.longestLease = max(lease, sessions.values.map(\.lease).max() ?? 0)
        detectOutage(lease: lease)
        pulse.beat(at: now)
        sessions[session.id] = MemorySession(
            id: session.id,
            host: session.host,
            pid: session.pid,
            concurrency: session.concurrency,
            operations: session.operations,
            startedAt: session.startedAt,
            version: session.version,
            lease: lease,
            leaseEnds: MemoryRules.later(now, by: lease),
            lastBeat: now,
            claims: sessions[session.id]?.claims ?? [:]
        )
    }

    private func check(_ session: Session, lease: Int64) throws(BrokerError) {
        guard MemoryRules.isSessionID(session.id) else {
            throw BrokerError(.refused, "a session id must match [A-Za-z0-9_-]{8,64}")
        }
        guard MemoryRules.leaseMilliseconds.contains(lease) else {
            throw BrokerError(.refused, "the lease must be 100 ms to 1 day")
        }
        if let known = sessions[session.id], known.host != session.host || known.pid != session.pid {
            throw BrokerError(.refused, "another process has the session id \(session.id)")
        }
    }

    package mutating func beat(of session: Session, begun: Token) throws(BrokerError) -> Beat {
        guard let known = sessions[session.id] else { throw lost(session.id) }
        let lease = MemoryRules.milliseconds(session.lease)
        detectOutage(lease: lease)
        pulse.beat(at: now)
        sessions[session.id]?.leaseEnds = MemoryRules.later(now, by: lease)
        sessions[session.id]?.lastBeat = now
        sessions[session.id]?.begun = max(known.begun, begun)
        let stops = known.claimsInOrder.filter { jobs[$0.id]?.stop != nil }
        return Beat(claims: known.claims.count, stops: stops.map { Beat.Stop(id: $0.id, token: $0.claim.token) })
    }

    /// Notices an outage: if no session has sent a beat for half a lease, none of them could. No session loses its jobs
    /// for that, so recovery waits until they have had time to return.
    mutating func detectOutage(lease: Int64) {
        let longest = max(lease, pulse.longestLease)
        guard let last = pulse.lastBeat, pulse.outageNoticed != nil || isOutage(since: last, longest) else { return }
        grantGrace(longest)
        pulse.beat(at: now)
    }

    /// Returns whether the broker was away since `last`, or its clock was changed.
    package func isOutage(since last: Int64, _ longest: Int64) -> Bool { (now - last).magnitude > UInt64(longest / 2) }

    /// Starts a grace, and shortens leases that would last too long after a clock was set back.
    mutating func grantGrace(_ longest: Int64) {
        let end = MemoryRules.later(now, by: longest)
        for (id, session) in sessions where session.leaseEnds > end { sessions[id]?.leaseEnds = end }
        pulse.graceEnds = end
        pulse.leap = now
        if !groups.heldBack.isEmpty { groups.reconsiders = true }
    }

    /// Ends a session and releases its claims: the jobs return to the head of the ready list and spend no attempt.
    package mutating func release(_ id: String) {
        requeueClaims(of: id)
        endSession(id)
    }

    private mutating func requeueClaims(of id: String) {
        for held in (sessions[id]?.claimsInOrder ?? []).reversed() {
            guard let job = jobs[held.id] else { continue }
            freeSlots(of: job, released: held.claim)
            if endClaim(job, of: id, as: .released) != nil { requeue(job.id) }
        }
    }

    mutating func endSession(_ id: String) {
        if let ended = sessions.removeValue(forKey: id) { forgetLease(ended.lease) }
        idle.removeAll { $0 == id }
        if quarantineOwner == id { quarantineOwner = nil }
    }

    /// Updates the longest lease, which counts as long as a session has it. A grace for a longer lease is shortened.
    private mutating func forgetLease(_ lease: Int64) {
        guard lease >= pulse.longestLease, let longest = sessions.values.map(\.lease).max(), longest < lease else {
            return
        }
        pulse.longestLease = longest
        let (end, latest) = (MemoryRules.later(now, by: longest), MemoryRules.later(now, by: lease))
        if pulse.graceEnds > end, pulse.graceEnds <= latest { pulse.graceEnds = end }
    }
}

/// Direct dispatch: a push pre-answers the next call of a waiting session, as if the session had just made it.
extension MemoryQueue {
    /// Dispatches the only ready job to the first waiting session that has subscribed, if that session is dispatchable.
    /// Otherwise a session is woken at the end of the transition.
    mutating func dispatch(_ job: String, _ first: String?, _ listens: (_ session: String) -> Bool) {
        guard case .listed(let list) = jobs[job]?.place, readyLists.count == 1, readyLists[list]?.count == 1,
            quarantineOwner == nil, !groups.rule(of: .wholeQueue).hasLimit,
            !settings.isPaused, !settings.publishesStarts,
            jobs[job].map({ !$0.header.isNewer && $0.envelope.count <= MemoryRules.dispatchedBytes }) ?? false
        else { return }
        var first = first
        while let id = first ?? idle.first, let session = sessions[id] {
            guard let wait = session.dispatchTerms, hasSentHeartbeat(session), knows(session, job) else { return }
            idle.removeAll { $0 == id }
            first = nil
            guard listens(id) else { continue }
            effects.newWork -= 1
            return makeDispatch(job, to: session, wait)
        }
    }

    /// Returns whether a session has sent a beat within half a lease; the larger half of an odd lease is then left.
    private func hasSentHeartbeat(_ session: MemorySession) -> Bool {
        let left = MemoryRules.later(session.leaseEnds, by: -now)
        return left >= session.lease - session.lease / 2 && left <= session.lease
    }

    private func knows(_ session: MemorySession, _ job: String) -> Bool {
        jobs[job]?.header.operation.map { session.operations[$0] != nil } ?? false
    }

    private mutating func makeDispatch(_ id: String, to session: MemorySession, _ wait: Int64) {
        var grant = MemoryGrant(dispatchingTo: session.id, longestWaitAndGrace: wait, token: nextToken)
        claim(id, &grant)
        lastToken = grant.token
        sessions[session.id]?.dispatchTerms = nil
        sessions[session.id]?.dispatchedToken = grant.token
        guard let claim = grant.claims.first else { return }
        effects.add(.claimed(queue: name, call: session.lastReplied + 1, claim: claim), for: session.id)
    }

    /// Returns the reply to a pre-answered call; `nil` if the call is not. The call's reports are not accepted.
    mutating func preansweredReply(_ call: Exchange, of session: MemorySession) -> ExchangeReply? {
        guard let token = session.dispatchedToken, call.call == session.lastReplied else { return nil }
        let last = MemorySession.LastCall(number: call.call, token: token, accepted: [], isPreanswered: true)
        sessions[session.id]?.lastCall = last
        sessions[session.id]?.dispatchedToken = nil
        if call.freeSlots > 0 { sessions[session.id]?.begun = token }
        return repeated(last, for: session)
    }
}

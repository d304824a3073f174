/// Exchange: reports ended runs and claims new jobs in one step.
extension MemoryQueue {
    package mutating func exchange(_ call: Exchange) throws(BrokerError) -> ExchangeReply {
        let answer = try answer(to: call)
        // If the clock was set, the deadlines of claims are by the new one.
        if !answer.claims.isEmpty { detectOutage(lease: 0) }
        return answer
    }

    private mutating func answer(to call: Exchange) throws(BrokerError) -> ExchangeReply {
        let id = call.session.id
        guard let session = sessions[id] else { throw lost(id) }
        if let late = preansweredReply(call, of: session) { return late }
        if let last = session.lastCall, last.number == call.call { return repeated(last, for: session) }
        if let last = session.lastCall, call.call < last.number {
            throw BrokerError(.refused, "this call is older than the last one, so it is ignored")
        }
        let accepted = apply(call.reports, from: id)
        // What comes after the jobs that have ended can be claimed by this call.
        if !workflows.changed.isEmpty { continueWorkflows() }
        var answer = ExchangeReply(accepted: accepted, claims: [])
        if call.wanted > 0 { claim(call, into: &answer) }
        let leavesSomething = workflows.hasMore || !workflows.messages.isEmpty
        answer.needsPromotion = groups.rates.beginsEarlier || effects.concernsWorkflows && leavesSomething
        remember(call, answer)
        return answer
    }

    func lost(_ session: String) -> BrokerError {
        BrokerError(
            .sessionLost,
            "session \(session) is not registered on queue \"\(name)\" any more; its claims are gone: register anew"
        )
    }

    private mutating func remember(_ call: Exchange, _ answer: ExchangeReply) {
        guard var session = sessions[call.session.id] else { return }
        let token = answer.claims.first?.token
        session.lastCall = .init(number: call.call, token: token, accepted: answer.accepted)
        let isHeldBack = answer.isPaused || answer.awaitsFreeSlot
        let waits = call.wanted > 0 && token == nil && !isHeldBack && call.acceptsDirectDispatch
        session.dispatchTerms = waits ? MemoryGrant.longestWaitAndGrace(of: call) : nil
        session.dispatchedToken = nil
        session.begun = call.freeSlots > 0 ? token ?? call.begun : call.begun
        sessions[call.session.id] = session
    }

    /// Returns the outcomes of the original call, and the claims of it that the session still has.
    func repeated(_ last: MemorySession.LastCall, for session: MemorySession) -> ExchangeReply {
        let held = session.claimsInOrder.filter { $0.claim.token == last.token }
        return ExchangeReply(
            accepted: last.accepted,
            claims: held.compactMap { held in jobs[held.id].map { claim(of: $0, token: held.claim.token) } },
            isPreanswered: last.isPreanswered
        )
    }

    func claim(of job: MemoryJob, token: Token) -> Claim {
        Claim(id: job.id, token: token, attempt: job.failures + 1, crashes: job.crashes, body: job.stored)
    }
}

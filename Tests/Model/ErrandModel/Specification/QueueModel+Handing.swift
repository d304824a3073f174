extension QueueModel {
    /// Gives the only job in line to the session that has waited for it, as the answer to the call that it would make next.
    ///
    /// - Parameter first: who is told first, unless it is who has waited longest.
    mutating func handOver(_ push: Push, first: SessionID?) {
        guard case .line(let line) = jobs[push.id]?.place, lines == [line: [push.id]], solo == nil, !settings.isPaused,
            !settings.publishesStarts, let told = first ?? waiting.first, let session = sessions[told],
            let wait = session.openCall, (session.leaseEnds - now) * 2 >= session.registration.lease,
            session.leaseEnds - now <= session.registration.lease,
            session.registration.operations[push.operation] != nil
        else { return }
        waiting.removeAll { $0 == told }
        effects.newWork -= 1
        var call = Call(session: told, number: session.lastAnswered + 1)
        call.waitAndGrace = wait
        let token = nextToken
        var claims: [GivenClaim] = []
        take(push.id, call, token, &claims)
        lastToken = token
        sessions[told]?.openCall = nil
        sessions[told]?.handed = token
        effects.handed = claims.first.map { DirectDispatch(session: told, call: call.number, claim: $0) }
    }

    /// The answer to a call that a push has answered before it came. Its reports are not taken.
    mutating func answeredByPush(_ call: Call, _ session: SessionState) -> Answer? {
        guard let token = session.handed, call.number == session.lastAnswered else { return nil }
        let last = SessionState.LastCall(number: call.number, token: token, accepted: [], isPreanswered: true)
        sessions[call.session]?.lastCall = last
        sessions[call.session]?.handed = nil
        if call.freeSlots > 0 { sessions[call.session]?.begun = token }
        return repeated(last, session)
    }
}

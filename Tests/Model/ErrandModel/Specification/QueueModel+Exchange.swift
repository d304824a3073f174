extension QueueModel {
    /// Reports and claims in one step. The last call may be sent again; an older one is refused.
    mutating func exchange(_ call: Call) -> Answer {
        guard let session = sessions[call.session] else { return .no(.sessionLost) }
        noticeGap(lease: 0)
        if let late = answeredByPush(call, session) { return late }
        if let last = session.lastCall, last.number >= call.number {
            return last.number == call.number ? repeated(last, session) : .no(.refused)
        }
        let accepted = takeReports(of: call)
        var claims: [GivenClaim] = []
        var hasDue = false
        let isPaused = call.wanted > 0 && settings.isPaused
        if call.wanted > 0, !settings.isPaused {
            claims = claim(call)
            if claims.isEmpty {
                wait(call.session)
                hasDue = jobs.values.contains { $0.isDue(at: now) }
            } else {
                waiting.removeAll { $0 == call.session }
            }
        }
        if isPaused { wait(call.session) }
        let token = claims.first?.token
        sessions[call.session]?.lastCall = .init(number: call.number, token: token, accepted: accepted)
        let foundNothing = call.wanted > 0 && !isPaused && claims.isEmpty
        sessions[call.session]?.openCall = foundNothing && call.acceptsDirectDispatch ? call.waitAndGrace : nil
        sessions[call.session]?.handed = nil
        sessions[call.session]?.begun = call.freeSlots > 0 ? token ?? call.begun : call.begun
        return .exchanged(accepted: accepted, claims: claims, hasDue: hasDue, isPaused: isPaused, isPreanswered: false)
    }

    /// Of what its own call has put in line, which it could not have, others are told.
    private mutating func wait(_ session: SessionID) {
        if effects.newWork > 0 {
            waiting.removeAll { $0 == session }
            effects.waitsLater = session
        } else if !waiting.contains(session) {
            waiting.append(session)
        }
    }

    /// The verdicts of the first time, and what is still held of its claims.
    func repeated(_ last: SessionState.LastCall, _ session: SessionState) -> Answer {
        let claims = session.claims.filter { $0.token == last.token }.compactMap { held in
            jobs[held.id].map { given($0, held.token) }
        }
        return .exchanged(
            accepted: last.accepted,
            claims: claims,
            hasDue: false,
            isPaused: false,
            isPreanswered: last.isPreanswered
        )
    }

    func given(_ job: Job, _ token: Token) -> GivenClaim {
        GivenClaim(
            id: job.id,
            token: token,
            attempt: job.failures + 1,
            crashes: job.crashes,
            readySince: job.readySince
        )
    }
}

extension Job {
    func isDue(at now: Time) -> Bool {
        switch place {
        case .scheduled(let due), .retrying(let due): due <= now
        default: false
        }
    }
}

/// How sessions come, stay and go.
extension QueueModel {
    mutating func register(_ registration: Registration) -> Answer {
        let known = sessions[registration.session]
        if let known, known.registration.pid != registration.pid { return .no(.refused) }
        guard (100...86_400_000).contains(registration.lease) else { return .no(.refused) }
        longestLease = sessions.values.map(\.registration.lease).reduce(registration.lease, max)
        noticeGap(lease: registration.lease)
        notePulse()
        sessions[registration.session] = SessionState(
            registration: registration,
            leaseEnds: now + registration.lease,
            lastBeat: now,
            claims: known?.claims ?? []
        )
        return .done
    }

    mutating func beat(_ id: SessionID, lease: Time, begun: Token) -> Answer {
        guard let session = sessions[id] else { return .no(.sessionLost) }
        noticeGap(lease: lease)
        notePulse()
        sessions[id]?.leaseEnds = now + lease
        sessions[id]?.lastBeat = now
        sessions[id]?.begun = max(session.begun, begun)
        let stops = session.claims.filter { jobs[$0.id]?.stop != nil }
        return .beaten(claims: session.claims.count, stops: stops.map { StopOrder(id: $0.id, token: $0.token) })
    }

    /// Nobody has beaten for half a lease, so nobody could: the sessions get a lease's time to come back.
    mutating func noticeGap(lease: Time) {
        let longest = max(lease, longestLease)
        guard let lastBeat, gapNoticed != nil || abs(now - lastBeat) > longest / 2 else { return }
        grantGrace(longest)
        notePulse()
    }

    /// What recovery noticed before was another gap, even if the clock, put back, comes by the same time again.
    private mutating func notePulse() {
        lastBeat = now
        gapNoticed = nil
    }

    /// The broker was away, or its clock was put forward or back. In the last case no lease may outlast its length.
    mutating func grantGrace(_ longest: Time) {
        for (id, session) in sessions { sessions[id]?.leaseEnds = min(session.leaseEnds, now + longest) }
        graceEnds = now + longest
        leap = now
    }

    /// The worker tells the claims that it knows: others go back, and it learns which of its own are gone.
    mutating func reconcile(_ id: SessionID, number: Int, known: [StopOrder]) -> Answer {
        guard let session = sessions[id] else { return .no(.sessionLost) }
        if session.lastAnswered > number { return .no(.refused) }
        let strange = session.claims.filter { claim in !known.contains { $0.id == claim.id && $0.token == claim.token }
        }
        for claim in strange.reversed() {
            if let job = jobs[claim.id], returnClaim(job, id, as: .released) { giveBack(job.id) }
        }
        let lost = known.filter { session.claim(of: $0.id)?.token != $0.token }.map(\.id)
        return .reconciled(strange.count, lost: lost)
    }

    /// A session leaves; what it holds goes back to the head of the line, from the last to the first.
    mutating func release(_ id: SessionID) -> Answer {
        for claim in (sessions[id]?.claims ?? []).reversed() {
            if let job = jobs[claim.id], returnClaim(job, id, as: .released) { giveBack(job.id) }
        }
        endSession(id)
        return .done
    }

    mutating func endSession(_ id: SessionID) {
        let ended = sessions.removeValue(forKey: id)
        if let longest = sessions.values.map(\.registration.lease).max(), let ended, ended.registration.lease > longest
        {
            shortenLease(to: longest, from: ended.registration.lease)
        }
        if solo == id { solo = nil }
        waiting.removeAll { $0 == id }
    }

    /// Who had the longest lease has left: those who are there need no more time than theirs.
    private mutating func shortenLease(to longest: Time, from earlier: Time) {
        guard earlier >= longestLease else { return }
        longestLease = longest
        if graceEnds <= now + earlier { graceEnds = min(graceEnds, now + longest) }
    }
}

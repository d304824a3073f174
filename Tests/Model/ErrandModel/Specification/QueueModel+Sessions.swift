/// How sessions come, stay and go.
extension QueueModel {
    mutating func register(_ registration: Registration) -> Answer {
        let known = sessions[registration.session]
        if let known, known.registration.pid != registration.pid { return .no(.refused) }
        guard (100...86_400_000).contains(registration.lease) else { return .no(.refused) }
        longestLease = sessions.values.map(\.registration.lease).reduce(registration.lease, max)
        noticeGap(lease: registration.lease)
        lastBeat = now
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
        lastBeat = now
        sessions[id]?.leaseEnds = now + lease
        sessions[id]?.lastBeat = now
        sessions[id]?.begun = max(session.begun, begun)
        let stops = session.claims.filter { jobs[$0.id]?.stop != nil }
        return .beaten(claims: session.claims.count, stops: stops.map { StopOrder(id: $0.id, token: $0.token) })
    }

    /// Nobody has beaten for half a lease, so nobody could: the sessions get a lease's time to come back.
    mutating func noticeGap(lease: Time) {
        let longest = max(lease, longestLease)
        guard let lastBeat, now - lastBeat > longest / 2 else { return }
        graceEnds = now + longest
        self.lastBeat = now
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
        sessions[id] = nil
        if solo == id { solo = nil }
        effects.waitsNoMore.append(id)
    }
}

/// Which jobs a session gets, and in which order.
extension QueueModel {
    mutating func claim(_ call: Call) -> [GivenClaim] {
        let token = nextToken
        var claims: [GivenClaim] = []
        if !servesSuspects(call, token, &claims) {
            if takeLevels(call, token, &claims) { _ = servesSuspects(call, token, &claims) }
        }
        if !claims.isEmpty { lastToken = token }
        if settings.publishesStarts {
            for claim in claims {
                if let job = jobs[claim.id] {
                    publish(.started, job.pushed, Run(attempt: claim.attempt, worker: call.session))
                }
            }
        }
        return claims
    }

    var nextToken: Token { max(now * 1000, lastToken + 1) }

    /// One session at a time serves the suspects, each alone, and gets nothing else meanwhile. While it still holds something
    /// else, another one that holds nothing may become the one instead, if it knows what is first in line.
    private mutating func servesSuspects(_ call: Call, _ token: Token, _ claims: inout [GivenClaim]) -> Bool {
        let holdsNothing = sessions[call.session]?.claims.isEmpty ?? true
        let first = lines[.suspects]?.first
        switch solo {
        case let other? where other != call.session && sessions[other] != nil:
            if servesOne(other) { return false }
            if let first, !(holdsNothing && knows(call.session, first)) { return false }
        default: break
        }
        guard first != nil else {
            if solo == call.session, servesOne(call.session) { return true }
            solo = nil
            return false
        }
        solo = call.session
        if holdsNothing { take(1, from: .suspects, call, token, &claims) }
        return true
    }

    private func servesOne(_ session: SessionID) -> Bool {
        let claims = sessions[session]?.claims ?? []
        return claims.count == 1 && claims.allSatisfy { jobs[$0.id]?.isSuspect == true }
    }

    private func knows(_ session: SessionID, _ id: JobID) -> Bool {
        guard let operation = jobs[id]?.pushed.operation else { return false }
        return sessions[session]?.registration.operations[operation] != nil
    }

    /// The highest level first, but every sixteenth job while several wait is one of the lowest. Answers whether it met a suspect that is
    /// to be served.
    private mutating func takeLevels(_ call: Call, _ token: Token, _ claims: inout [GivenClaim]) -> Bool {
        var parked = parkedLines.filter { knows(call.session, $0) }
        let suspects = lines[.suspects]?.count ?? 0
        while claims.count < call.wanted {
            let waiting = (0...9).filter { level in
                lines[.ready(priority: level)] != nil || parked.contains { $0.level == level }
            }
            guard let lowest = waiting.first, let highest = waiting.last else { break }
            let isTurn = lowest != highest && turn >= 15
            let level = isTurn ? lowest : highest
            let wanted = call.wanted - claims.count
            let most = lowest == highest ? wanted : isTurn ? 1 : min(wanted, 15 - turn)
            let before = claims.count
            for line in parked where line.level == level && claims.count < before + most {
                take(before + most - claims.count, parkedIn: line, call, token, &claims)
                // What is left was seen.
                if claims.count < before + most { parked.removeAll { $0 == line } }
            }
            take(before + most - claims.count, from: .ready(priority: level), call, token, &claims)
            parked.removeAll { lines[$0] == nil }
            if lowest == highest { break }
            if !isTurn { turn += claims.count - before } else if claims.count > before { turn = 0 }
        }
        return lines[.suspects]?.count ?? 0 > suspects
    }

    private mutating func take(
        _ most: Int,
        from line: Line,
        _ call: Call,
        _ token: Token,
        _ claims: inout [GivenClaim]
    ) {
        for id in (lines[line] ?? []).prefix(max(most, 0)) { take(id, call, token, &claims) }
    }

    mutating func take(_ id: JobID, _ call: Call, _ token: Token, _ claims: inout [GivenClaim]) {
        guard let job = jobs[id] else { return }
        leavePlace(id)
        jobs[id]?.place = .claimed(call.session)
        if job.pushed.isUniqueUntilStarted, let name = job.name {
            holders[name] = nil
            jobs[id]?.hasLetNameGo = true
        }
        let deadline = now + call.waitAndGrace + timeout(of: job, call.session)
        sessions[call.session]?.claims.append(.init(id: id, token: token, made: now, deadline: deadline))
        claims.append(given(job, token))
    }

    /// The job's own timeout, or the longest default of the session's operations.
    private func timeout(of job: Job, _ session: SessionID) -> Time {
        job.pushed.timeout ?? sessions[session]?.registration.operations.values.map(\.timeout).max() ?? 10_000
    }
}

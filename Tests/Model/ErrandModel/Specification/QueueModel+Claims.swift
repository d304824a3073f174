/// Which jobs a session gets, and in which order.
extension QueueModel {
    mutating func claim(_ call: Call) -> [GivenClaim] {
        let token = nextToken
        var claims: [GivenClaim] = []
        if !servesSuspects(call, token, &claims) {
            let metSuspect = takeParked(call, token, &claims)
            takeLevels(call, token, &claims)
            if metSuspect { _ = servesSuspects(call, token, &claims) }
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

    var parkedOperations: [Operation] {
        lines.keys.compactMap { if case .parked(let operation) = $0 { operation } else { nil } }.sorted()
    }

    /// What is parked of what the session knows. A suspect is not taken beside others: it waits to be served by this session,
    /// or, while another one serves suspects, behind the others of its line.
    private mutating func takeParked(_ call: Call, _ token: Token, _ claims: inout [GivenClaim]) -> Bool {
        let mayServe = solo == nil
        var metSuspect = false
        for operation in parkedOperations where sessions[call.session]?.registration.operations[operation] != nil {
            for id in lines[.parked(operation)] ?? [] where claims.count < call.wanted {
                if jobs[id]?.isSuspect == false {
                    take(id, call, token, &claims)
                } else {
                    leavePlace(id)
                    lines[mayServe ? .suspects : .parked(operation), default: []].append(id)
                    jobs[id]?.place = .line(mayServe ? .suspects : .parked(operation))
                    metSuspect = metSuspect || mayServe
                }
            }
        }
        return metSuspect
    }

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

    /// The highest level first, but every sixteenth job while several wait is one of the lowest.
    private mutating func takeLevels(_ call: Call, _ token: Token, _ claims: inout [GivenClaim]) {
        while claims.count < call.wanted {
            let waiting = (0...9).filter { lines[.ready(priority: $0)] != nil }
            guard let lowest = waiting.first, let highest = waiting.last else { return }
            let wanted = call.wanted - claims.count
            let before = claims.count
            if lowest == highest {
                return take(wanted, from: .ready(priority: highest), call, token, &claims)
            } else if turn >= 15 {
                take(1, from: .ready(priority: lowest), call, token, &claims)
                turn = 0
            } else {
                take(min(wanted, 15 - turn), from: .ready(priority: highest), call, token, &claims)
                turn += claims.count - before
            }
        }
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

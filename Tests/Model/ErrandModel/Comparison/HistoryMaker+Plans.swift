/// A step towards what seldom comes about by chance.
enum PlannedStep {
    /// Jobs kill their worker.
    case register, claim, expire, recover
    /// A run goes past its hard deadline.
    case enter, start, meddle, overrun, look
    /// Jobs are handed over to who waits.
    case wait, fill, hand, late, lookLate
}

extension HistoryMaker {
    /// Where to go next; `nil`: wherever chance goes.
    mutating func somePlan() -> [PlannedStep]? {
        if isCrashy, numbers.chance(isDeadly ? 75 : 20), !model.jobs.isEmpty {
            return [.register, .claim, .expire, .recover]
        }
        if numbers.chance(2), !model.jobs.isEmpty {
            return [.enter, .start, .meddle, .overrun, .look, .look]
        }
        guard numbers.chance(12), model.lines.isEmpty, !style.isPlain else { return nil }
        switch numbers.below(4) {
        // Where two wait and one of them is told of a job, the next job comes behind that one.
        case 0: return [.wait, .wait, .fill, .hand]
        // Nobody hears of it before its hard deadline.
        case 1: return [.wait, .hand, .late, .lookLate]
        default: return [.wait, .hand]
        }
    }

    mutating func planned(_ step: PlannedStep) -> Command {
        switch step {
        case .register, .claim, .expire, .recover: return crash(step)
        case .enter, .start, .meddle, .overrun, .look: return stuck(step)
        case .wait: return look(of: someSession())
        case .hand: return .push([oneJob()])
        case .fill:
            let job = oneJob()
            return .push([job, job])
        case .late: return beatLate()
        case .lookLate:
            guard style.looksAtOne, let handed else { return recover() }
            return .recover(look: handed.session)
        }
    }

    /// A session that claims, begins and dies, while another one beats.
    private mutating func crash(_ step: PlannedStep) -> Command {
        switch step {
        case .register:
            var registration = registration(0)
            registration.lease = 100
            return .register(registration)
        case .claim:
            var call = Call(session: 0, number: nextNumber(of: 0))
            call.wanted = 1 + numbers.below(2)
            call.freeSlots = numbers.chance(85) ? 1 : 0
            call.waitAndGrace = 100_000
            return .exchange(call)
        case .expire:
            now = max(now, model.sessions[0]?.leaseEnds ?? now)
            var registration = registration(1)
            registration.lease = 1000
            if let known = model.sessions[1] { return .beat(1, lease: known.registration.lease, begun: known.begun) }
            return .register(registration)
        default: return recover()
        }
    }

    /// A session that has free slots and asks for work.
    private mutating func look(of session: SessionID) -> Command {
        var call = Call(session: session, number: nextNumber(of: session))
        call.wanted = 1 + numbers.below(2)
        call.freeSlots = numbers.below(2)
        call.acceptsDirectDispatch = true
        call.waitAndGrace = [0, 400, 100_000][numbers.below(3)]
        return .exchange(call)
    }

    /// The first session to which a job was handed over, and that job's claim.
    private var handed: (session: SessionID, claim: SessionState.HeldClaim)? {
        for (id, session) in model.sessions.sorted(by: { $0.key < $1.key }) {
            if let claim = session.claims.first(where: { $0.token == session.handed }) { return (id, claim) }
        }
        return nil
    }

    /// Who has been handed a job beats when that job's time is over, and has seldom heard of it.
    private mutating func beatLate() -> Command {
        guard let (id, claim) = handed, let session = model.sessions[id] else { return .promote }
        now = max(now, claim.deadline + 1)
        return .beat(id, lease: session.registration.lease, begun: numbers.chance(30) ? claim.token : session.begun)
    }

    private static let wedged: SessionID = 2

    /// A session that beats and never ends what it has begun, of which somebody may want something meanwhile.
    private mutating func stuck(_ step: PlannedStep) -> Command {
        switch step {
        case .enter:
            var registration = registration(Self.wedged)
            registration.lease = 2000
            return .register(registration)
        case .start:
            var call = Call(session: Self.wedged, number: nextNumber(of: Self.wedged))
            call.wanted = 1 + numbers.below(2)
            return .exchange(call)
        case .meddle:
            let held = model.sessions[Self.wedged]?.claims.map(\.id) ?? []
            return numbers.chance(50) && !held.isEmpty ? .cancel([held[0]]) : push()
        case .overrun:
            now = max(now, (model.sessions[Self.wedged]?.claims.map(\.deadline).max() ?? now) + 1)
            return .beat(Self.wedged, lease: 2000, begun: 0)
        default: return .recover(look: style.looksAtOne ? Self.wedged : nil)
        }
    }

    /// The number of a session's next call. Where a push has answered one, the worker may know, or not yet.
    mutating func nextNumber(of session: SessionID) -> Int {
        guard let known = model.sessions[session] else { return 1 }
        return (known.lastCall?.number ?? 0) + (known.handed != nil && numbers.chance(50) ? 2 : 1)
    }
}

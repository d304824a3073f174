import Errand

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
        if isCrashy, numbers.chance(isDeadly ? 75 : 20), !queue.jobs.isEmpty {
            return [.register, .claim, .expire, .recover]
        }
        if numbers.chance(2), !queue.jobs.isEmpty {
            return [.enter, .start, .meddle, .overrun, .look, .look]
        }
        guard numbers.chance(12), queue.readyLists.isEmpty, !style.isPlain else { return nil }
        switch numbers.below(4) {
        // Where two wait and one of them is told of a job, the next job comes behind that one.
        case 0: return [.wait, .wait, .fill, .hand]
        // Nobody hears of it before its hard deadline.
        case 1: return [.wait, .hand, .late, .lookLate]
        default: return [.wait, .hand]
        }
    }

    mutating func planned(_ step: PlannedStep) throws -> Command {
        switch step {
        case .register, .claim, .expire, .recover: return crash(step)
        case .enter, .start, .meddle, .overrun, .look: return try stuck(step)
        case .wait: return look(of: someSession())
        case .hand: return .push([try oneJob()])
        case .fill:
            let job = try oneJob()
            return .push([job, job])
        case .late: return beatLate()
        case .lookLate:
            guard style.looksAtOne, let handed else { return recover() }
            return .recover(look: handed.session.id)
        }
    }

    /// A session that claims, begins and dies, while another one beats.
    private mutating func crash(_ step: PlannedStep) -> Command {
        switch step {
        case .register:
            return .register(registration(universe.sessions[0], lease: 100))
        case .claim:
            var call = call(of: universe.sessions[0])
            call.wanted = 1 + numbers.below(2)
            call.freeSlots = numbers.chance(85) ? 1 : 0
            call.longestWait = .seconds(100)
            return .exchange(call)
        case .expire:
            now = max(now, queue.sessions[universe.sessions[0]]?.leaseEnds ?? now)
            let other = universe.sessions[1]
            if let known = queue.sessions[other] {
                return .beat(session(other, lease: known.lease), begun: known.begun)
            }
            return .register(registration(other, lease: 1000))
        default: return recover()
        }
    }

    /// A session that has free slots and asks for work.
    private mutating func look(of session: String) -> Command {
        var call = call(of: session)
        call.wanted = 1 + numbers.below(2)
        call.freeSlots = numbers.below(2)
        call.acceptsDirectDispatch = true
        call.longestWait = .milliseconds([0, 400, 100_000][numbers.below(3)])
        return .exchange(call)
    }

    /// The first session to which a job was handed over, and that job's claim.
    private var handed: (session: MemorySession, claim: MemoryClaim)? {
        for session in queue.sessions.values.sorted(by: { $0.id < $1.id }) {
            if let claim = session.claims.values.first(where: { $0.token == session.dispatchedToken }) {
                return (session, claim)
            }
        }
        return nil
    }

    /// Who has been handed a job beats when that job's time is over, and has seldom heard of it.
    private mutating func beatLate() -> Command {
        guard let (known, claim) = handed else { return .promote }
        now = max(now, claim.hardDeadline + 1)
        let begun = numbers.chance(30) ? claim.token : known.begun
        return .beat(session(known.id, lease: known.lease), begun: begun)
    }

    private var wedged: String { universe.sessions[2] }

    /// A session that beats and never ends what it has begun, of which somebody may want something meanwhile.
    private mutating func stuck(_ step: PlannedStep) throws -> Command {
        switch step {
        case .enter:
            return .register(registration(wedged, lease: 2000))
        case .start:
            var call = call(of: wedged)
            call.wanted = 1 + numbers.below(2)
            return .exchange(call)
        case .meddle:
            let held = queue.sessions[wedged]?.claimsInOrder.map(\.id) ?? []
            return numbers.chance(50) && !held.isEmpty ? .cancel([held[0]]) : try push()
        case .overrun:
            now = max(now, (queue.sessions[wedged]?.claims.values.map(\.hardDeadline).max() ?? now) + 1)
            return .beat(session(wedged, lease: 2000), begun: 0)
        default: return .recover(look: style.looksAtOne ? wedged : nil)
        }
    }

    /// The number of a session's next call. Where a push has answered one, the worker may know, or not yet.
    mutating func nextNumber(of session: String) -> Int {
        guard let known = queue.sessions[session] else { return 1 }
        return (known.lastCall?.number ?? 0) + (known.dispatchedToken != nil && numbers.chance(50) ? 2 : 1)
    }
}

import Errand

/// The in-memory broker's transitions, driven by the model's commands.
package struct MemorySubject {
    private let universe: Universe
    private var transitions: MemoryTransitions
    private var registrations: [SessionID: Registration] = [:]
    private var envelopes: Envelopes

    package init(_ universe: Universe, _ envelopes: Envelopes) {
        self.universe = universe
        self.envelopes = envelopes
        transitions = MemoryTransitions(queue: universe.queue)
    }

    package var hasFindings: Bool { !transitions.findings.isEmpty }

    var view: ConsoleView {
        ConsoleView(transitions.status, transitions.sessionStatuses, universe.ids.map { transitions.record(of: $0) })
    }

    package mutating func observe(_ command: Command, at time: Time) throws -> Observation {
        transitions.setTime(time)
        let answer = try answer(command)
        let news = transitions.takeNews()
        return Observation(
            answer: answer,
            words: transitions.words(
                ids: universe.ids,
                sessions: universe.sessions,
                names: Universe.nameCount,
                operations: Universe.operationCount
            ),
            events: Array(news.events.joined(separator: [10])),
            workHints: news.hints.filter { $0.hint == .work(queue: universe.queue) }.map {
                Universe.number($0.session)
            },
            stopHints: news.hints.filter { $0.hint == .stop(queue: universe.queue) }.map {
                Universe.number($0.session)
            },
            handed: news.hints.lazy.compactMap { DirectDispatch($0.session, $0.hint) }.first,
            waiting: Set(transitions.waitingSessions.map(Universe.number))
        )
    }

    /// Only makes the transition, and forgets what it had to tell.
    package mutating func answer(_ command: Command, at time: Time) throws -> Answer {
        transitions.setTime(time)
        defer { _ = transitions.takeNews() }
        return try answer(command)
    }

    package var words: [Int64] {
        transitions.words(
            ids: universe.ids,
            sessions: universe.sessions,
            names: Universe.nameCount,
            operations: Universe.operationCount
        )
    }

    private mutating func answer(_ command: Command) throws -> Answer {
        do { return try made(command) } catch let error as BrokerError { return Answer(error) }
    }

    private mutating func made(_ command: Command) throws -> Answer {
        switch command {
        case .push(let pushes, _):
            return Answer(try transitions.push(try pushes.map { try envelopes.envelope($0, universe) }))
        case .register(let registration):
            try transitions.register(universe.session(registration))
            registrations[registration.session] = registration
            return .done
        case .exchange(let call):
            let answer = try transitions.exchange(universe.exchange(call, registration(of: call.session)))
            return Answer(answer)
        case .beat(let session, let lease, let begun):
            var registration = registration(of: session)
            registration.lease = lease
            return Answer(try transitions.beat(of: universe.session(registration), begun: Errand.Token(begun)))
        case .release(let session):
            transitions.release(universe.sessions[session])
            return .done
        case .promote:
            let promotion = transitions.promote()
            return .promoted(promotion.promoted, next: promotion.nextDue.map { Time($0) })
        case .reconcile(let session, let number, let known):
            let runs = known.map { (id: universe.ids[$0.id], token: Errand.Token($0.token)) }
            return Answer(try transitions.reconcile(universe.sessions[session], call: number, runs: runs))
        case .recover:
            let recovery = transitions.recover()
            return .recovered(recovery.recovered, more: recovery.hasMore)
        case .cancel(let ids): return Answer(ids.map { transitions.cancel(universe.ids[$0]) })
        case .delete(let ids): return Answer(ids.map { transitions.delete(universe.ids[$0]) })
        case .retry(let ids): return Answer(ids.map { transitions.retry(universe.ids[$0]) })
        case .clear: return .cleared(transitions.clear())
        case .configure(let change):
            try transitions.configure(universe.settings(change))
            return .done
        }
    }

    private func registration(of session: SessionID) -> Registration {
        registrations[session] ?? Registration(session: session, lease: 1000)
    }
}

extension DirectDispatch {
    /// A hint for a session, if it hands a job over.
    init?(_ session: String, _ hint: WakeUp) {
        guard case .claimed(_, let call, let claim) = hint else { return nil }
        self.init(session: Universe.number(session), call: call, claim: GivenClaim(claim))
    }
}

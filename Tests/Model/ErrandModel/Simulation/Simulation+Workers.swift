import Errand

/// What workers do when they wake, which each does every few milliseconds.
extension Simulation {
    mutating func wake(_ index: Int) throws {
        defer {
            if workers[index].isUp {
                agenda.add(
                    .wake(index, workers[index].life),
                    at: max(now + Time(10 + numbers.below(20)), workers[index].pausedUntil)
                )
            }
        }
        guard workers[index].pausedUntil <= now else { return }
        guard let session = workers[index].session, workers[index].poller != nil else { return register(index) }
        // What is not confirmed for a lease is not this worker's any more.
        if now - workers[index].lastBeatAnswered > Self.lease {
            note("session given up")
            return forget(index)
        }
        if now - workers[index].lastBeatSent >= Self.lease / 4 { beat(index, session) }
        try run(index)
        guard workers[index].isUp else { return }
        maintain(index)
        drain(index)
        poll(index, session)
    }

    private mutating func register(_ index: Int) {
        guard now - workers[index].sentAt > 100 else { return }
        if workers[index].session == nil {
            nextSession += 1
            workers[index].session = Session(
                id: "session-\(1000 + nextSession)",
                host: "host",
                pid: 1,
                concurrency: SimulatedWorker.slots,
                queues: ["work"],
                lease: .milliseconds(Self.lease),
                operations: Self.operations
            )
        }
        guard let session = workers[index].session else { return }
        workers[index].sentAt = now
        send(index, .register(session))
    }

    private mutating func beat(_ index: Int, _ session: Session) {
        workers[index].lastBeatSent = now
        send(index, .beat(session, begun: workers[index].begun))
    }

    private mutating func maintain(_ index: Int) {
        guard now - workers[index].lastUpkeep > 100 else { return }
        workers[index].lastUpkeep = now
        let limit = instant - .milliseconds(SimulatedWorker.longestWait)
        for held in workers[index].held where held.begunAt == nil && held.since < limit {
            note("waited too long")
            end(index, held, .released)
        }
        send(index, .recover(look: nil))
        send(index, .promote)
    }

    // MARK: Runs

    /// Runs begin while there are slots, and end when their time has come.
    private mutating func run(_ index: Int) throws {
        for held in workers[index].held where held.begunAt == nil && workers[index].running < SimulatedWorker.slots {
            try begin(index, held)
            guard workers[index].isUp else { return }
        }
        for held in workers[index].held where held.begunAt != nil && held.endsAt <= now {
            end(index, held, held.verb)
        }
    }

    private mutating func begin(_ index: Int, _ held: SimulatedWorker.Held) throws {
        guard let place = workers[index].held.firstIndex(where: { $0.token == held.token && $0.id == held.id }) else {
            return
        }
        // A process that was suspended may come too late.
        guard let limits = workers[index].poller?.limits, instant <= limits.latestBegin(held.since) else {
            note("begun too late")
            return end(index, held, .released)
        }
        workers[index].held[place].begunAt = now
        workers[index].begun = max(workers[index].begun, held.token)
        let job = world.queue.jobs[held.id]
        if job?.header.operation == Self.poison, numbers.chance(95) {
            note("poison")
            return crash(index)
        }
        let verbs: [OutcomeReport.Verb] = [
            .finished, .finished, .finished, .failed, .timedOut, .snoozed, .unroutable, .unreadable,
        ]
        workers[index].held[place].verb = faultsStrike ? verbs[numbers.below(verbs.count)] : .finished
        try addToWorkflow(index, held.claim)
        if usesGroups, faultsStrike, made[held.id]?.group != nil, numbers.chance(8) {
            workers[index].held[place].verb = .groupRests
        }
        workers[index].held[place].endsAt = now + Time(5 + numbers.below(100))
        if faultsStrike, numbers.chance(6) {
            note("wedged")
            // It comes round only long after its hard deadline.
            workers[index].held[place].endsAt = now + 2500
        }
    }

    /// Ends a run. Without a verb nothing is reported.
    private mutating func end(_ index: Int, _ held: SimulatedWorker.Held, _ verb: OutcomeReport.Verb?) {
        workers[index].held.removeAll { $0.token == held.token && $0.id == held.id }
        guard let verb else {
            _ = workers[index].poller?.ended(held, nil)
            return
        }
        let claim = held.claim
        var report = OutcomeReport(id: claim.id, token: claim.token, verb: verb, attempt: claim.attempt)
        report.error = verb == .failed || verb == .timedOut ? "reason" : nil
        let job = made[claim.id]
        let retries = job.flatMap { $0.retries ?? Self.operations[$0.operation]?.retries } ?? 0
        report.retryDelay = claim.attempt <= retries || verb == .snoozed ? 50 : nil
        if verb == .groupRests { report.retryDelay = Self.groupRest }
        _ = workers[index].poller?.ended(held, report)
    }

    // MARK: The protocol

    /// Executes what the worker's protocol decides.
    private mutating func poll(_ index: Int, _ session: Session) {
        if let lost = workers[index].poller?.sent {
            guard now - workers[index].sentAt > 120 else { return }
            note("call sent again")
            workers[index].poller?.unanswered()
            return call(index, lost)
        }
        guard now >= workers[index].reconcilesUntil else { return }
        let isDraining = workers[index].drainsSince != nil
        workers[index].poller?.isDraining = isDraining
        let time = instant
        while true {
            let begun = workers[index].begun
            switch workers[index].poller?.next(at: time, begun: begun) {
            case nil: return
            case .run(let reply, _): take(index, reply)
            case .send(let exchange, let last):
                if let last { take(index, last) }
                return call(index, exchange)
            case .gather: continue
            case .reconcile(let call): return reconcile(index, session, call)
            case .promote: send(index, .promote)
            case .wait: return
            case .finish: return leave(index, session)
            }
        }
    }

    private mutating func call(_ index: Int, _ exchange: Exchange) {
        workers[index].sentAt = now
        send(index, .exchange(exchange))
    }

    private mutating func take(_ index: Int, _ reply: UnreadReply) {
        workers[index].begun = max(workers[index].begun, reply.begun ?? 0)
        let time = instant
        for claim in workers[index].poller?.admitClaims(of: reply, at: time) ?? [] {
            let held = SimulatedWorker.Held(claim: claim, since: reply.since)
            workers[index].held.append(held)
            workers[index].poller?.began(held)
        }
    }

    private mutating func reconcile(_ index: Int, _ session: Session, _ call: Int) {
        note("claims compared")
        workers[index].reconcilesUntil = now + 120
        let claims = workers[index].poller?.claimsToReconcile() ?? []
        let runs = claims.map { Beat.Stop(id: $0.id, token: $0.token) }.sorted { $0.token < $1.token }
        send(index, .reconcile(session, call: call, runs: runs))
    }

    /// A worker that was told to leave releases what waits, and a little later what runs.
    private mutating func drain(_ index: Int) {
        guard let since = workers[index].drainsSince else { return }
        for held in workers[index].held where held.begunAt == nil || now - since > 150 { end(index, held, .released) }
    }

    private mutating func leave(_ index: Int, _ session: Session) {
        send(index, .release(session))
        note("left")
        stop(index)
        agenda.add(.restart(index), at: now + 50)
    }

    // MARK: Ends of a process, and of a session

    mutating func crash(_ index: Int) {
        guard workers[index].isUp else { return }
        stop(index)
        agenda.add(.restart(index), at: now + Time(20 + numbers.below(300)))
    }

    private mutating func stop(_ index: Int) {
        let life = workers[index].life + 1
        workers[index] = SimulatedWorker(index: index)
        workers[index].life = life
        workers[index].isUp = false
    }

    mutating func restart(_ index: Int) {
        guard !workers[index].isUp else { return }
        workers[index].isUp = true
        agenda.add(.wake(index, workers[index].life), at: now)
    }

    /// The session is gone: nothing that is held counts any more. The worker registers a new one.
    mutating func forget(_ index: Int) {
        let pausedUntil = workers[index].pausedUntil
        stop(index)
        workers[index].pausedUntil = pausedUntil
        restart(index)
    }

    // MARK: What arrives

    mutating func hear(_ wakeUp: WakeUp, _ index: Int, _ life: Int) {
        guard workers[index].life == life, workers[index].isUp, let session = workers[index].session else { return }
        if workers[index].pausedUntil > now {
            return agenda.add(.wakeUp(wakeUp, worker: index, life: life), at: workers[index].pausedUntil)
        }
        switch wakeUp {
        case .work: workers[index].poller?.wokenUp()
        case .stop: beat(index, session)
        case .claimed(_, let call, let claim):
            let isNext = workers[index].poller.map { $0.sent == nil && $0.call + 1 == call } ?? false
            note(isNext ? "dispatch arrived in time" : "dispatch arrived late")
            let dispatch = DirectDispatch(call: call, claim: claim, since: instant)
            let time = instant
            if let reply = workers[index].poller?.wokenUp(with: dispatch, at: time) {
                note("dispatched job begun at once")
                take(index, reply)
                workers[index].poller?.begunDispatched()
            }
        }
    }

    mutating func take(_ answer: Answer, _ message: Agenda.Message) {
        let index = message.worker
        guard workers[index].life == message.life, workers[index].isUp else { return }
        if workers[index].pausedUntil > now {
            return agenda.add(.answer(message, answer), at: workers[index].pausedUntil)
        }
        switch (message.command, answer) {
        case (.register(let session), .done):
            guard workers[index].session == session, workers[index].poller == nil else { return }
            workers[index].poller = SimulatedWorker.makePoller(of: session, at: instant)
            workers[index].lastBeatAnswered = now
        case (.exchange, .no(.sessionLost)), (.beat, .no(.sessionLost)):
            note("session lost")
            forget(index)
        case (.beat, .beaten(let beat)): take(beat, index)
        case (.exchange(let call), .exchanged(let reply)):
            let time = instant
            workers[index].poller?.answered(reply, to: call.call, at: time)
        case (.promote, .promoted(let promotion)):
            workers[index].poller?.promoted(promotion.promoted > 0)
            cancelRest(index)
        case (.reconcile, .reconciled(let reconciliation)): take(reconciliation, index)
        default: break
        }
    }

    private mutating func take(_ beat: Beat, _ index: Int) {
        workers[index].lastBeatAnswered = max(workers[index].lastBeatAnswered, now - 100)
        _ = workers[index].poller?.heartbeatReplied(claims: beat.claims)
        for stop in beat.stops {
            for held in workers[index].held where held.id == stop.id && held.token == stop.token {
                note("stopped as told")
                end(index, held, held.begunAt == nil ? .released : .cancelled)
            }
        }
    }

    private mutating func take(_ reconciliation: Reconciliation, _ index: Int) {
        workers[index].reconcilesUntil = 0
        for held in workers[index].held where reconciliation.lost.contains(held.id) {
            note("claim was lost")
            end(index, held, nil)
        }
    }
}

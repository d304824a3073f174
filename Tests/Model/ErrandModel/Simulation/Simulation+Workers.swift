/// What workers do when they wake, which each does every few milliseconds.
extension Simulation {
    mutating func wake(_ index: Int) {
        defer {
            if workers[index].isUp {
                agenda.add(
                    .wake(index, workers[index].life),
                    at: max(now + Time(10 + numbers.below(20)), workers[index].pausedUntil)
                )
            }
        }
        guard workers[index].pausedUntil <= now else { return }
        guard let session = workers[index].session, workers[index].isRegistered else { return register(index) }
        // What is not confirmed for a lease is not this worker's any more.
        if now - workers[index].lastBeatAnswered > Self.lease {
            note("session given up")
            return forget(index)
        }
        beat(index, session)
        run(index)
        upkeep(index)
        call(index, session)
        leave(index, session)
    }

    private mutating func register(_ index: Int) {
        guard now - workers[index].sentAt > 100 else { return }
        if workers[index].session == nil {
            workers[index].session = freeSession()
            workers[index].number = 0
        }
        guard let session = workers[index].session else { return }
        workers[index].sentAt = now
        var registration = Registration(session: session, lease: Self.lease)
        registration.operations = Self.operations
        send(index, .register(registration))
    }

    /// Texts of sessions are few. One that neither the broker nor a worker has is used again, but the one that rested longest, so
    /// that nothing of its last owner is still under way.
    private mutating func freeSession() -> SessionID? {
        let used = Set(workers.compactMap(\.session)).union(world.queue.sessions.keys)
            .union(snapshots.flatMap { $0.queue.sessions.keys })
        let count = universe.sessions.count
        let free = (0..<count).map { (nextSession + $0) % count }.first { !used.contains($0) }
        if let free { nextSession = free + 1 }
        return free
    }

    private mutating func beat(_ index: Int, _ session: SessionID) {
        guard now - workers[index].lastBeatSent >= Self.lease / 4 else { return }
        workers[index].lastBeatSent = now
        send(index, .beat(session, lease: Self.lease, begun: workers[index].begun))
    }

    private mutating func upkeep(_ index: Int) {
        guard now - workers[index].lastUpkeep > 100 else { return }
        workers[index].lastUpkeep = now
        let waiting = workers[index].held.filter { $0.begunAt == nil && now - $0.since > SimulatedWorker.longestWait }
        for held in waiting {
            note("waited too long")
            end(index, held.claim, .released)
        }
        send(index, .recover(look: nil))
        send(index, .promote)
    }

    /// Runs begin while there are slots, and end when their time has come.
    private mutating func run(_ index: Int) {
        for place in workers[index].held.indices {
            let held = workers[index].held[place]
            if held.begunAt == nil, workers[index].running < SimulatedWorker.slots { begin(index, place) }
            guard workers[index].isUp else { return }
        }
        for held in workers[index].held where held.begunAt != nil && held.endsAt <= now {
            end(index, held.claim, held.verb)
        }
    }

    private mutating func begin(_ index: Int, _ place: Int) {
        workers[index].held[place].begunAt = now
        let job = world.queue.jobs[workers[index].held[place].claim.id]
        if job?.pushed.operation == 1, numbers.chance(95) {
            note("poison")
            return crash(index)
        }
        let verbs: [Verb] = [.finished, .finished, .finished, .failed, .timedOut, .snoozed, .parked, .unreadable]
        workers[index].held[place].verb = faultsStrike ? verbs[numbers.below(verbs.count)] : .finished
        workers[index].held[place].endsAt = now + Time(5 + numbers.below(100))
        if faultsStrike, numbers.chance(6) {
            note("wedged")
            // It comes round only long after its hard deadline.
            workers[index].held[place].endsAt = now + 2500
        }
    }

    mutating func end(_ index: Int, _ claim: GivenClaim, _ verb: Verb) {
        workers[index].held.removeAll { $0.claim == claim }
        var report = Report(id: claim.id, token: claim.token, verb: verb)
        report.attempt = claim.attempt
        report.hasError = verb == .failed || verb == .timedOut
        let job = made[claim.id]
        let retries = job.retries ?? Self.operations[job.operation]?.retries ?? 0
        report.retryDelay = claim.attempt <= retries || verb == .snoozed ? 50 : nil
        workers[index].reports.append(report)
    }

    private mutating func call(_ index: Int, _ session: SessionID) {
        let worker = workers[index]
        if let awaited = worker.awaited {
            guard now - worker.sentAt > 120 else { return }
            note("call sent again")
            workers[index].sentAt = now
            return send(index, .exchange(awaited))
        }
        let room = SimulatedWorker.slots + SimulatedWorker.claimedAhead - worker.held.count
        let wanted = worker.drainsSince == nil ? max(room, 0) : 0
        guard wanted > 0 || !worker.reports.isEmpty else { return }
        workers[index].number += 1
        var call = Call(session: session, number: workers[index].number)
        call.reports = worker.reports
        call.wanted = wanted
        call.freeSlots = min(wanted, max(SimulatedWorker.slots - worker.running, 0))
        call.begun = worker.begun
        call.acceptsDirectDispatch = call.freeSlots > 0
        call.waitAndGrace = SimulatedWorker.longestWait + 300
        workers[index].reports = []
        workers[index].awaited = call
        workers[index].sentAt = now
        send(index, .exchange(call))
    }

    /// A worker that was told to leave ends what it holds, gives back the rest, and releases its session.
    private mutating func leave(_ index: Int, _ session: SessionID) {
        guard let since = workers[index].drainsSince else { return }
        for held in workers[index].held where held.begunAt == nil || now - since > 150 {
            end(index, held.claim, .released)
        }
        guard workers[index].held.isEmpty, workers[index].reports.isEmpty, workers[index].awaited == nil else { return }
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

    // MARK: Answers

    /// A push has answered the next call. When it is under way already, its own answer counts.
    mutating func hear(_ handed: DirectDispatch, _ index: Int, _ life: Int) {
        guard workers[index].life == life, workers[index].isUp else { return }
        if workers[index].pausedUntil > now {
            return agenda.add(.hint(handed, worker: index, life: life), at: workers[index].pausedUntil)
        }
        guard workers[index].awaited == nil, workers[index].session == handed.session,
            workers[index].number + 1 == handed.call
        else { return note("hint too late") }
        note("hint heard")
        workers[index].number += 1
        workers[index].held.append(.init(claim: handed.claim, since: now))
    }

    mutating func take(_ answer: Answer, _ message: Agenda.Message) {
        let index = message.worker
        guard workers[index].life == message.life, workers[index].isUp else { return }
        if workers[index].pausedUntil > now {
            return agenda.add(.answer(message, answer), at: workers[index].pausedUntil)
        }
        switch (message.command, answer) {
        case (.register(let registration), .done):
            guard workers[index].session == registration.session, !workers[index].isRegistered else { return }
            workers[index].isRegistered = true
            workers[index].lastBeatAnswered = now
        case (.exchange, .no(.sessionLost)), (.beat, .no(.sessionLost)):
            note("session lost")
            forget(index)
        case (.beat, .beaten(_, let stops)):
            workers[index].lastBeatAnswered = max(workers[index].lastBeatAnswered, now - 100)
            for stop in stops {
                guard
                    let held = workers[index].held.first(where: {
                        $0.claim.id == stop.id && $0.claim.token == stop.token
                    })
                else { continue }
                note("stopped as told")
                end(index, held.claim, .cancelled)
            }
        case (.exchange(let call), .exchanged(_, let claims, _, _, let isPreanswered)):
            guard workers[index].awaited?.number == call.number else { return }
            workers[index].awaited = nil
            if isPreanswered { workers[index].reports = call.reports + workers[index].reports }
            workers[index].held += claims.map { .init(claim: $0, since: now) }
        default: break
        }
    }
}

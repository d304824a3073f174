import Errand

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
            nextSession += 1
            workers[index].session = Session(
                id: "session-\(1000 + nextSession)",
                host: "host",
                pid: 1,
                concurrency: SimulatedWorker.slots,
                queues: [],
                lease: .milliseconds(Self.lease),
                operations: Self.operations
            )
            workers[index].number = 0
        }
        guard let session = workers[index].session else { return }
        workers[index].sentAt = now
        send(index, .register(session))
    }

    private mutating func beat(_ index: Int, _ session: Session) {
        guard now - workers[index].lastBeatSent >= Self.lease / 4 else { return }
        workers[index].lastBeatSent = now
        send(index, .beat(session, begun: workers[index].begun))
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
        if job?.header.operation == Self.poison, numbers.chance(95) {
            note("poison")
            return crash(index)
        }
        let verbs: [OutcomeReport.Verb] = [
            .finished, .finished, .finished, .failed, .timedOut, .snoozed, .parked, .unreadable,
        ]
        workers[index].held[place].verb = faultsStrike ? verbs[numbers.below(verbs.count)] : .finished
        workers[index].held[place].endsAt = now + Time(5 + numbers.below(100))
        if faultsStrike, numbers.chance(6) {
            note("wedged")
            // It comes round only long after its hard deadline.
            workers[index].held[place].endsAt = now + 2500
        }
    }

    mutating func end(_ index: Int, _ claim: Claim, _ verb: OutcomeReport.Verb) {
        workers[index].held.removeAll { $0.claim == claim }
        var report = OutcomeReport(id: claim.id, token: claim.token, verb: verb, attempt: claim.attempt)
        report.error = verb == .failed || verb == .timedOut ? "reason" : nil
        let job = made[claim.id]
        let retries = job.flatMap { $0.retries ?? Self.operations[$0.operation]?.retries } ?? 0
        report.retryDelay = claim.attempt <= retries || verb == .snoozed ? 50 : nil
        workers[index].reports.append(report)
    }

    private mutating func call(_ index: Int, _ session: Session) {
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
        let freeSlots = min(wanted, max(SimulatedWorker.slots - worker.running, 0))
        let call = Exchange(
            session: session,
            call: workers[index].number,
            reports: worker.reports,
            wanted: wanted,
            freeSlots: freeSlots,
            begun: worker.begun,
            longestWait: .milliseconds(SimulatedWorker.longestWait),
            stopGrace: .milliseconds(300),
            acceptsDirectDispatch: freeSlots > 0
        )
        workers[index].reports = []
        workers[index].awaited = call
        workers[index].sentAt = now
        send(index, .exchange(call))
    }

    /// A worker that was told to leave ends what it holds, gives back the rest, and releases its session.
    private mutating func leave(_ index: Int, _ session: Session) {
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
        guard workers[index].awaited == nil, workers[index].session?.id == handed.session,
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
        case (.register(let session), .done):
            guard workers[index].session == session, !workers[index].isRegistered else { return }
            workers[index].isRegistered = true
            workers[index].lastBeatAnswered = now
        case (.exchange, .no(.sessionLost)), (.beat, .no(.sessionLost)):
            note("session lost")
            forget(index)
        case (.beat, .beaten(let beat)):
            workers[index].lastBeatAnswered = max(workers[index].lastBeatAnswered, now - 100)
            for stop in beat.stops {
                guard
                    let held = workers[index].held.first(where: {
                        $0.claim.id == stop.id && $0.claim.token == stop.token
                    })
                else { continue }
                note("stopped as told")
                end(index, held.claim, .cancelled)
            }
        case (.exchange(let call), .exchanged(let reply)):
            guard workers[index].awaited?.call == call.call else { return }
            workers[index].awaited = nil
            if reply.isPreanswered { workers[index].reports = call.reports + workers[index].reports }
            workers[index].held += reply.claims.map { .init(claim: $0, since: now) }
        default: break
        }
    }
}

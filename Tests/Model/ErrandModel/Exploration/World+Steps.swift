import Errand

extension World {
    /// Lets something happen. Answers which promise it breaks, or `nil`.
    mutating func perform(_ action: Action) -> String? {
        witnesses = Witnesses()
        let broken = step(action)
        dropDeadLetters()
        return broken
    }

    private mutating func step(_ action: Action) -> String? {
        switch action {
        case .tick: now += Self.tick
        case .push(let kind, let first): return execute(push: nextPush(kind), first: first)
        case .pushLosingReceipt(let kind):
            faults.lost -= 1
            unanswered.append(nextPush(kind))
            return execute(push: unanswered[unanswered.count - 1])
        case .hear(let index): hear(index)
        case .pushAgain(let index): return execute(push: unanswered.remove(at: index))
        case .register(let index): return register(index)
        case .beat(let index): return beat(index)
        case .reconcile(let index): return reconcile(index)
        case .leave(let index): return leave(index)
        case .send(let index, let verb): send(index, verb)
        case .exchange(let index, let verb):
            send(index, verb)
            return execute(requests.removeLast(), isAnswered: true)
        case .sendAgain(let index):
            faults.lost -= 1
            if let request = requests.first(where: { isAwaited($0, by: index) }) { requests.append(request) }
        case .execute(let index): return execute(requests.remove(at: index), isAnswered: true)
        case .executeLosingAnswer(let index):
            faults.lost -= 1
            return execute(requests[index], isAnswered: false)
        case .recover(let session): return recover(session)
        case .promote: return observe(.promote).broken
        case .cancel, .retry, .delete, .stop, .crash, .pause, .resume, .save, .rollBack, .leap: return strike(action)
        }
        return nil
    }

    /// What is not a part of everyday work: faults, and what people do.
    private mutating func strike(_ action: Action) -> String? {
        switch action {
        case .cancel(let id):
            faults.cancels -= 1
            return observe(.cancel([id])).broken
        case .retry(let id):
            faults.revivals -= 1
            return observe(.retry([id])).broken
        case .delete(let id):
            faults.deletions -= 1
            return observe(.delete([id])).broken
        case .stop:
            faults.stops -= 1
            return observe(.stop(Self.workflow)).broken
        case .crash(let index):
            faults.crashes -= 1
            workers[index] = Worker()
        case .pause(let index):
            faults.pauses -= 1
            workers[index].isPaused = true
        case .resume(let index): workers[index].isPaused = false
        case .save: saved = Saved(broker: broker, outage: outage)
        case .rollBack: rollBack()
        case .leap(let ticks):
            faults.leaps -= 1
            now += ticks * Self.tick
            leapt += ticks * Self.tick
            outage.clockLeapt()
        default: break
        }
        return nil
    }

    // MARK: The producer

    private mutating func nextPush(_ kind: Int) -> JobEnvelope {
        let delay = rules.scope.kinds[kind].delay
        let push = rules.envelopes[kind][pushed].due(at: delay > 0 ? now + delay : 0)
        pushed += 1
        unsent -= 1
        return push
    }

    private mutating func execute(push: JobEnvelope, first: String? = nil) -> String? {
        observe(.push([push], first: first)).broken
    }

    // MARK: Workers

    private mutating func register(_ index: Int) -> String? {
        sessionsMade += 1
        let session = Self.session(sessionsMade)
        workers[index].session = session
        workers[index].lastNumber = 0
        return observe(.register(session)).broken
    }

    private mutating func beat(_ index: Int) -> String? {
        guard let session = workers[index].session else { return nil }
        let begun = workers[index].held.map(\.token).max() ?? 0
        let (answer, broken) = observe(.beat(session, begun: begun))
        guard case .beaten(let beat) = answer else {
            workers[index] = Worker()
            return broken
        }
        for stop in beat.stops where workers[index].held.contains(where: { $0.id == stop.id && $0.token == stop.token })
        {
            workers[index].stops.insert(stop.id)
        }
        // While a call is under way, the counts may differ.
        if !workers[index].isAwaiting { workers[index].mustReconcile = beat.claims != workers[index].held.count }
        return broken
    }

    private mutating func reconcile(_ index: Int) -> String? {
        guard let session = workers[index].session else { return nil }
        workers[index].mustReconcile = false
        let runs = workers[index].held.map { Beat.Stop(id: $0.id, token: $0.token) }
        let (answer, broken) = observe(.reconcile(session, call: workers[index].lastNumber, runs: runs))
        if case .reconciled(let reconciliation) = answer {
            workers[index].held.removeAll { reconciliation.lost.contains($0.id) }
            workers[index].stops.formIntersection(workers[index].held.map(\.id))
        } else if answer == .no(.sessionLost) {
            workers[index] = Worker()
        }
        return broken
    }

    private mutating func leave(_ index: Int) -> String? {
        guard let session = workers[index].session else { return nil }
        workers[index] = Worker()
        return observe(.release(session)).broken
    }

    private mutating func send(_ index: Int, _ verb: OutcomeReport.Verb?) {
        guard let session = workers[index].session else { return }
        workers[index].lastNumber += 1
        var call = Exchange(
            session: session,
            call: workers[index].lastNumber,
            reports: [],
            wanted: 1,
            freeSlots: 1,
            begun: 0,
            longestWait: .zero,
            stopGrace: .zero,
            acceptsDirectDispatch: rules.scope.workersAreHandedJobs
        )
        if let verb, let claim = workers[index].held.first {
            var report = OutcomeReport(id: claim.id, token: claim.token, verb: verb, attempt: claim.attempt)
            if verb == .snoozed || ([.failed, .timedOut].contains(verb) && claim.attempt == 1) {
                report.retryDelay = Int(Self.tick)
            }
            call.reports = [report]
        }
        workers[index].held = []
        workers[index].stops = []
        workers[index].mustReconcile = false
        workers[index].isAwaiting = true
        requests.append(Request(worker: index, call: call))
    }

    /// Whether a hint answers the next call of a worker.
    func isNews(_ hint: GivenDispatch, to index: Int) -> Bool {
        let worker = workers[index]
        return worker.session?.id == hint.session && !worker.isAwaiting && worker.lastNumber + 1 == hint.call
    }

    private mutating func hear(_ index: Int) {
        guard let place = hints.firstIndex(where: { isNews($0, to: index) }) else { return }
        workers[index].lastNumber += 1
        workers[index].held = [hints.remove(at: place).claim]
        workers[index].mustReconcile = false
    }

    func isAwaited(_ request: Request, by index: Int) -> Bool {
        let worker = workers[index]
        return request.worker == index && worker.isAwaiting && worker.session?.id == request.call.session.id
            && worker.lastNumber == request.call.call
    }

    /// Executes a call. Without an answer, the worker sends it again.
    private mutating func execute(_ request: Request, isAnswered: Bool) -> String? {
        let (answer, broken) = observe(.exchange(request.call))
        if let broken { return broken }
        guard isAnswered, isAwaited(request, by: request.worker) else { return nil }
        let index = request.worker
        switch answer {
        case .exchanged(let reply):
            workers[index].isAwaiting = false
            workers[index].held = reply.claims
        case .no(.sessionLost): workers[index] = Worker(isPaused: workers[index].isPaused)
        // An older copy is refused; the answer of the newer one counts.
        default: break
        }
        return nil
    }

    /// Calls of sessions that are gone and that nobody waits for would be refused without a trace.
    private mutating func dropDeadLetters() {
        if !hints.isEmpty { hints = hints.filter { hint in workers.indices.contains { isNews(hint, to: $0) } } }
        guard !requests.isEmpty else { return }
        requests = requests.filter { request in
            !(broker.queue.sessions[request.call.session.id] == nil && !isAwaited(request, by: request.worker)
                && saved?.broker.queue.sessions[request.call.session.id] == nil)
        }
    }

    // MARK: The broker

    private mutating func recover(_ session: String?) -> String? {
        guard let session else { return observe(.recover(look: nil)).broken }
        // Leases that end in the same tick end in some order within it: this one first.
        let ends = broker.queue.sessions[session]?.leaseEnds
        if let ends, ends <= now { setEndOfLease(of: session, to: ends - 1) }
        let broken = observe(.recover(look: session)).broken
        if let ends { setEndOfLease(of: session, to: ends) }
        return broken
    }

    private mutating func setEndOfLease(of session: String, to ends: Time) {
        var changed = broker.queue
        changed.sessions[session]?.leaseEnds = ends
        broker = SharedQueue(changed)
    }

    /// A restart takes time, so tokens, which go by the clock, are never issued twice.
    private mutating func rollBack() {
        guard let saved else { return }
        faults.rollbacks -= 1
        broker = saved.broker
        outage = saved.outage
        self.saved = nil
        now += Self.tick
    }
}

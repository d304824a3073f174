extension World {
    /// Lets something happen. Answers which promise it breaks, or `nil`.
    mutating func perform(_ action: Action) -> String? {
        switch action {
        case .tick: now += Self.tick
        case .push(let index): return execute(push: unsent.remove(at: index))
        case .pushLosingAnswer(let index):
            faults.lost -= 1
            let push = unsent.remove(at: index)
            unanswered.append(push)
            return execute(push: push)
        case .pushAgain(let index): return execute(push: unanswered.remove(at: index))
        case .register(let index): return register(index)
        case .beat(let index): return beat(index)
        case .end(let index, let verb): end(index, verb)
        case .call(let index): call(index)
        case .execute(let index): return execute(requests.remove(at: index))
        case .deliver(let index): deliver(replies.remove(at: index))
        case .loseReply(let index):
            faults.lost -= 1
            let reply = replies.remove(at: index)
            resend(reply.worker, reply.session, reply.number)
        case .sendAgain(let index):
            faults.lost -= 1
            if let call = workers[index].awaited { requests.append(Request(worker: index, call: call)) }
        case .recover(let look): return observe(.recover(look: look)).broken
        case .promote: return observe(.promote).broken
        case .cancel(let id):
            faults.cancels -= 1
            return observe(.cancel([id])).broken
        case .crash(let index):
            faults.crashes -= 1
            workers[index] = Worker(isUp: false)
        case .restart(let index):
            faults.restarts -= 1
            workers[index] = Worker()
        case .pause(let index):
            faults.pauses -= 1
            workers[index].isPaused = true
        case .resume(let index): workers[index].isPaused = false
        case .save: save()
        case .rollBack: rollBack()
        }
        return nil
    }

    // MARK: The producer

    private mutating func execute(push: Push) -> String? {
        let before = queue
        let (answer, broken) = observe(.push([push]))
        if let broken { return broken }
        guard case .receipts(let receipts) = answer, let receipt = receipts.first else { return "no receipt" }
        switch receipt {
        case .accepted, .replaced, .deferred: ledger.accepted.insert(push.id)
        case .dropped(let holder):
            guard let job = before.jobs[holder], !job.isDead else {
                return "S10: dropped for \(holder), which does not live"
            }
        case .exists: break
        }
        return nil
    }

    // MARK: Workers

    private mutating func register(_ index: Int) -> String? {
        sessionsMade += 1
        faults.registrations -= 1
        var registration = Registration(session: sessionsMade, lease: Self.lease)
        registration.operations = [0: .init(timeout: Self.hardDeadline, retries: 1)]
        workers[index].session = registration.session
        workers[index].lastNumber = 0
        ledger.lastBeat = now
        return observe(.register(registration)).broken
    }

    private mutating func beat(_ index: Int) -> String? {
        guard let session = workers[index].session else { return nil }
        let begun = workers[index].held.map(\.token).max() ?? 0
        let (answer, broken) = observe(.beat(session, lease: Self.lease, begun: begun))
        if case .beaten(_, let stops) = answer {
            ledger.lastBeat = now
            for stop in stops where workers[index].held.contains(where: { $0.id == stop.id && $0.token == stop.token })
            {
                workers[index].stops.insert(stop.id)
            }
        } else {
            workers[index] = Worker()
        }
        return broken
    }

    private mutating func end(_ index: Int, _ verb: Verb) {
        let claim = workers[index].held.removeFirst()
        workers[index].stops.remove(claim.id)
        var report = Report(id: claim.id, token: claim.token, verb: verb)
        report.attempt = claim.attempt
        if verb == .failed, claim.attempt == 1 { report.retryDelay = Self.tick }
        workers[index].reports.append(report)
    }

    private mutating func call(_ index: Int) {
        guard let session = workers[index].session else { return }
        workers[index].lastNumber += 1
        var call = Call(session: session, number: workers[index].lastNumber)
        call.reports = workers[index].reports
        call.wanted = workers[index].held.isEmpty ? 1 : 0
        call.freeSlots = call.wanted
        call.begun = workers[index].held.map(\.token).max() ?? 0
        workers[index].reports = []
        workers[index].awaited = call
        requests.append(Request(worker: index, call: call))
    }

    private mutating func resend(_ index: Int, _ session: SessionID, _ number: Int) {
        guard let call = workers[index].awaited, call.session == session, call.number == number else { return }
        requests.append(Request(worker: index, call: call))
    }

    private mutating func deliver(_ reply: Reply) {
        let worker = workers[reply.worker]
        guard worker.session == reply.session, worker.awaited?.number == reply.number else { return }
        guard case .exchanged(_, let claims, _, _) = reply.answer else {
            // An older copy is refused; the answer of the newer one counts.
            if reply.answer == .no(.sessionLost) { workers[reply.worker] = Worker(isPaused: worker.isPaused) }
            return
        }
        workers[reply.worker].awaited = nil
        workers[reply.worker].held += claims
    }

    /// Executes a call, and once more on a copy: the resend must change nothing and be answered the same (S15).
    private mutating func execute(_ request: Request) -> String? {
        let (answer, broken) = observe(.exchange(request.call))
        if let broken { return broken }
        var copy = queue
        let again = copy.apply(.exchange(request.call), at: now)
        guard copy.jobs == queue.jobs, copy.lines == queue.lines, copy.holders == queue.holders else {
            return "S15: a resend of \(request.call) changes jobs"
        }
        if case .exchanged(let accepted, let claims, _, _) = answer {
            guard case .exchanged(accepted, claims, _, _) = again else { return "S15: a resend is answered \(again)" }
        }
        replies.append(
            Reply(worker: request.worker, session: request.call.session, number: request.call.number, answer: answer)
        )
        return nil
    }

    // MARK: The broker loses its newest data

    private mutating func save() {
        saved = queue
        ledger.savedAccepted = ledger.accepted
        ledger.savedFinished = ledger.finished
    }

    /// A restart takes time, so tokens, which go by the clock, are never issued twice.
    private mutating func rollBack() {
        guard let saved else { return }
        faults.rollbacks -= 1
        queue = saved
        self.saved = nil
        now += Self.tick
        ledger.accepted = ledger.savedAccepted
        ledger.finished = ledger.savedFinished
        ledger.newestToken = [:]
        for claim in queue.sessions.values.flatMap(\.claims) { ledger.newestToken[claim.id] = claim.token }
    }
}

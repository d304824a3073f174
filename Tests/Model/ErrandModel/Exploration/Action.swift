/// One thing that may happen next.
enum Action: Hashable, Sendable {
    case tick
    case push(Int), pushLosingAnswer(Int), pushAgain(Int)
    case register(Int), beat(Int)
    case end(Int, Verb), call(Int)
    case execute(Int), deliver(Int), loseReply(Int), sendAgain(Int)
    case recover(SessionID?), promote
    case cancel(JobID)
    case crash(Int), restart(Int), pause(Int), resume(Int)
    case save, rollBack
}

extension World {
    /// What may happen next.
    var actions: [Action] {
        var actions: [Action] = [.tick]
        for index in unsent.indices.prefix(1) {
            actions.append(.push(index))
            if faults.lost > 0 { actions.append(.pushLosingAnswer(index)) }
        }
        actions += unanswered.indices.map { .pushAgain($0) }
        for index in workers.indices { actions += self.actions(of: index) }
        actions += requests.indices.map { .execute($0) }
        for index in replies.indices {
            actions.append(.deliver(index))
            if faults.lost > 0 { actions.append(.loseReply(index)) }
        }
        if queue.jobs.values.contains(where: { $0.isDue(at: now) }) { actions.append(.promote) }
        actions += recoveries
        if faults.cancels > 0 { actions += queue.jobs.keys.sorted().map { .cancel($0) } }
        if faults.rollbacks > 0 { actions.append(saved == nil ? .save : .rollBack) }
        return actions
    }

    /// Only recoveries that may do something, or that notice a gap.
    private var recoveries: [Action] {
        let isDead = queue.sessions.values.contains { $0.leaseEnds <= now }
        if isDead { return [.recover(nil)] }
        return queue.sessions.filter { $0.value.claims.contains { $0.deadline < now } }.keys.sorted()
            .map { .recover($0) }
    }

    private func actions(of index: Int) -> [Action] {
        let worker = workers[index]
        guard worker.isUp else { return faults.restarts > 0 ? [.restart(index)] : [] }
        if worker.isPaused { return [.resume(index)] }
        var actions: [Action] = []
        if faults.crashes > 0 { actions.append(.crash(index)) }
        if faults.pauses > 0 { actions.append(.pause(index)) }
        guard worker.session != nil else {
            return faults.registrations > 0 ? actions + [.register(index)] : actions
        }
        actions.append(.beat(index))
        if worker.awaited == nil {
            actions.append(.call(index))
        } else if faults.lost > 0 {
            actions.append(.sendAgain(index))
        }
        if let claim = worker.held.first {
            let verbs: [Verb] = worker.stops.contains(claim.id) ? [.cancelled] : [.finished, .failed, .released]
            actions += verbs.map { .end(index, $0) }
        }
        return actions
    }
}

extension World {
    /// Everything has ended, and nothing is left of it.
    var isDrained: Bool {
        unsent == 0 && unanswered.isEmpty && requests.isEmpty && queue.jobs.values.allSatisfy(\.isDead)
            && queue.lines.isEmpty && queue.holders.isEmpty && queue.sessions.values.allSatisfy(\.claims.isEmpty)
            && workers.allSatisfy(\.held.isEmpty)
    }

    /// What happens next when there are no more faults and everybody does what is theirs, one after the other: what is
    /// under way arrives, workers beat in every tick, end what they hold and claim what there is, and look after the
    /// queue; then time passes. `nil` when there is nothing left to do.
    var fairAction: Action? {
        if isDrained { return nil }
        if let paused = workers.firstIndex(where: \.isPaused) { return .resume(paused) }
        if !requests.isEmpty { return .execute(0) }
        if !unanswered.isEmpty { return .pushAgain(0) }
        if unsent > 0 { return .push(kind: 0, first: queue.waiting.first) }
        for index in workers.indices { if let action = fairAction(of: index) { return action } }
        if let recovery = recoveries.first, !recoveryRests { return recovery }
        return queue.jobs.values.contains { $0.isDue(at: now) } ? .promote : .tick
    }

    /// Recovery must wait, or has nothing to do.
    private var recoveryRests: Bool {
        if queue.hasUnnoticedGap(at: now) { return false }
        if queue.graceEnds > now, queue.graceEnds <= now + queue.longestLease { return true }
        return !queue.sessions.values.contains { session in
            session.leaseEnds <= now || session.claims.contains { queue.effectiveDeadline(of: $0) < now }
        }
    }

    private func fairAction(of index: Int) -> Action? {
        let worker = workers[index]
        guard let session = worker.session else { return .register(index) }
        if queue.sessions[session]?.leaseEnds != now + Self.lease { return .beat(index) }
        if worker.mustReconcile { return .reconcile(index) }
        let verb = worker.held.first.map { worker.stops.contains($0.id) ? Verb.cancelled : .finished }
        let isHanded = queue.sessions[session]?.handed != nil
        guard verb != nil || !queue.lines.isEmpty || isHanded else { return nil }
        return callsArriveAtOnce ? .exchange(index, verb) : .send(index, verb)
    }
}

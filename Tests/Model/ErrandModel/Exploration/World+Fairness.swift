import Errand

extension World {
    /// Everything has ended, and nothing is left of it.
    var isDrained: Bool {
        unsent == 0 && unanswered.isEmpty && requests.isEmpty && broker.queue.holders.isEmpty
            && (!broker.queue.deadHoldingUpGroups.isEmpty || isHeldUpByDead && broker.queue.readyLists.isEmpty)
            && broker.queue.sessions.values.allSatisfy(\.claims.isEmpty)
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
        if unsent > 0 { return .push(kind: 0, first: broker.queue.idle.first) }
        for index in workers.indices { if let action = fairAction(of: index) { return action } }
        if let recovery = recoveries.first, !recoveryRests { return recovery }
        return hasDueWork ? .promote : .tick
    }

    /// Whether a promotion would change anything.
    var hasDueWork: Bool {
        broker.queue.jobs.values.contains { broker.queue.isDue($0, at: now) }
            || broker.queue.groups.rates.resting.values.contains { $0 <= now } || broker.queue.workflows.hasMore
    }

    /// Recovery must wait, or has nothing to do.
    private var recoveryRests: Bool {
        if broker.queue.hasUnnoticedOutage(at: now) { return false }
        if broker.queue.pulse.graceEnds > now, broker.queue.pulse.graceEnds <= now + broker.queue.pulse.longestLease {
            return true
        }
        return !broker.queue.sessions.values.contains { session in
            session.leaseEnds <= now || session.claims.values.contains { broker.queue.deadline(of: $0) < now }
        }
    }

    private func fairAction(of index: Int) -> Action? {
        let worker = workers[index]
        guard let session = worker.session?.id else { return .register(index) }
        if broker.queue.sessions[session]?.leaseEnds != now + Self.lease { return .beat(index) }
        if worker.mustReconcile { return .reconcile(index) }
        let verb = worker.held.first.map { worker.stops.contains($0.id) ? OutcomeReport.Verb.cancelled : .finished }
        let isHanded = broker.queue.sessions[session]?.dispatchedToken != nil
        guard verb != nil || broker.queue.hasClaimable || isHanded else { return nil }
        return callsArriveAtOnce ? .exchange(index, verb) : .send(index, verb)
    }
}

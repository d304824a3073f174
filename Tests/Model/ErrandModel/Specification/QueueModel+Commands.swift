extension QueueModel {
    /// Makes one transition at a time and answers it; what else it does is in ``effects``.
    package mutating func apply(_ command: Command, at time: Time) -> Answer {
        now = time
        effects = Effects()
        defer {
            ended.settle(at: now, window: settings.rememberIDs)
            if effects.touchesHistory { forgetOldRecords() }
            wake()
        }
        switch command {
        case .push(let jobs, let first): return push(jobs, first: first)
        case .register(let registration): return register(registration)
        case .exchange(let call): return exchange(call)
        case .beat(let session, let lease, let begun): return beat(session, lease: lease, begun: begun)
        case .release(let session): return release(session)
        case .promote: return promote()
        case .reconcile(let session, let number, let known): return reconcile(session, number: number, known: known)
        case .recover(let look): return recover(look: look)
        case .cancel(let ids): return .endings(ids.map { cancel($0) })
        case .delete(let ids): return .endings(ids.map { delete($0) })
        case .retry(let ids): return .revivals(ids.map { retry($0) })
        case .clear: return clear()
        case .configure(let change): return configure(change)
        }
    }

    /// As many as there is new work are told of it. Who waits for a paused queue is told when it goes on.
    private mutating func wake() {
        if settings.isPaused { effects.newWork = 0 }
        effects.woken = Array(waiting.prefix(effects.newWork))
        waiting.removeFirst(effects.woken.count)
        if let later = effects.waitsLater { waiting.append(later) }
    }

    mutating func count(_ total: Total) { totals[total, default: 0] += 1 }

    @discardableResult
    mutating func publish(_ kind: EventKind, _ job: Push, _ run: Run = Run()) -> Event {
        let event = Event(
            kind: kind,
            id: job.id,
            operation: job.operation,
            name: job.name,
            attempt: run.attempt,
            worker: run.worker,
            duration: run.duration,
            reason: run.reason,
            at: now
        )
        effects.events.append(event)
        return event
    }
}

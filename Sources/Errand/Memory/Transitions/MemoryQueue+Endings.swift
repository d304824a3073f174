/// How a job ends, and what that means for its name.
extension MemoryQueue {
    /// Ends a job; its name goes to its successor, or is free.
    ///
    /// - Parameters:
    ///   - event: The event to keep in the history, if there is one.
    ///   - isReturned: Whether the job would have returned to the head of its ready list without a successor.
    mutating func end(
        _ id: String,
        as ending: MemoryEnding,
        event: MemoryEvent? = nil,
        result: [UInt8] = [],
        isReturned: Bool = false,
        newer: String? = nil
    ) {
        let successor = ending == .replaced ? newer ?? jobs[id]?.successor : nil
        if let event { keepHistory(of: id, ending, event, result) }
        ended.remember(id, ending)
        removeFromPlace(id)
        freeName(id, isReturned: isReturned)
        if let job = jobs[id] { unblockGroup(of: job) }
        jobs[id] = nil
        leaveWorkflows(id, ending, result: result, newer: successor)
    }

    private mutating func keepHistory(of id: String, _ ending: MemoryEnding, _ event: MemoryEvent, _ result: [UInt8]) {
        let events = [event.line] + (jobs[id]?.errors.events ?? [])
        let record = MemoryHistory.Record(at: now, events: events, result: result, ending: ending)
        history.keep(record, of: id)
    }

    /// Ends a job because a newer one has replaced it.
    mutating func endReplaced(
        _ id: String,
        event: MemoryEvent? = nil,
        isReturned: Bool = false,
        newer: String? = nil
    ) {
        count(.replaced)
        end(id, as: .replaced, event: event, isReturned: isReturned, newer: newer)
    }

    /// Makes a job dead. Its name is free from now on.
    mutating func die(_ id: String, _ details: MemoryEventDetails) {
        guard let job = jobs[id] else { return }
        let event = publish(.dead, of: job, details)
        count(.dead)
        removeFromPlace(id)
        // The oldest is removed first, because after a clock was set back the new one would look the oldest.
        trimDead()
        jobs[id]?.place = .dead
        dead.insert(id, at: now)
        jobs[id]?.errors.keep(event.line)
        jobs[id]?.stop = nil
        freeName(id)
        dieInWorkflows(id)
        guard let group = job.header.group, groups.blocked[group.text] == id else { return }
        groups.deadBlockers.insert(id)
        if groups.rule(of: group).order == .skipDead { unblockGroup(of: job) }
    }

    private mutating func trimDead() {
        guard dead.count >= Self.mostDead, let oldest = dead.first() else { return }
        count(.deadTrimmed)
        end(oldest.id, as: .deleted)
    }

    /// Frees the job's name, or gives it to the successor, which then becomes ready.
    private mutating func freeName(_ id: String, isReturned: Bool = false) {
        guard let job = jobs[id], let name = job.name else { return }
        jobs[id]?.debounce = nil
        if let successor = job.successor {
            jobs[id]?.successor = nil
            holders[name] = successor
            activateSuccessor(successor, atHead: isReturned && mayTakeHead(successor, from: id))
        } else if holders[name] == id {
            holders[name] = nil
        }
    }

    /// Whether a successor may go to the head of its ready list when its holder would have returned to the head of its own.
    /// The head of an ordered group belongs to the job for which the group waits, so only that job's successor takes it.
    private func mayTakeHead(_ id: String, from holder: String) -> Bool {
        guard let group = jobs[id]?.header.group, groups.rule(of: group).order != nil else { return true }
        return groups.blocked[group.text] == holder
    }

    /// Makes a successor ready: at the head of the ready list if the other job would have returned there.
    private mutating func activateSuccessor(_ id: String, atHead: Bool) {
        let due = jobs[id]?.due ?? 0
        guard atHead, due <= now else { return enqueue(id, due: due) }
        jobs[id]?.readySince = now
        requeue(id)
    }

    /// Frees the name of a job that held it only until it started.
    mutating func makeNameless(_ id: String) {
        freeName(id)
        jobs[id]?.isNameless = true
    }

    /// If there is a successor, ends the holder as replaced by it.
    ///
    /// - Parameters:
    ///   - event: The event of the run's end, for the history.
    ///   - isReturned: Whether the claim ended without an outcome; the successor then takes the position in the ready
    ///     list.
    mutating func endReplacedBySuccessor(
        _ job: MemoryJob,
        attempt: Int,
        worker: String,
        event: MemoryEvent? = nil,
        isReturned: Bool = false
    ) -> Bool {
        guard job.successor != nil else { return false }
        publish(.replaced, of: job, MemoryEventDetails(attempt: attempt, worker: worker))
        endReplaced(job.id, event: event, isReturned: isReturned)
        return true
    }
}

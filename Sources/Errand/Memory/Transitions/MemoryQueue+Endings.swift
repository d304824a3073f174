/// How a job ends, and what its end means for its name.
extension MemoryQueue {
    /// Ends a job for good; its name goes to its successor, or is free.
    ///
    /// - Parameters:
    ///   - event: The event to keep in the history, if one is to be kept.
    ///   - isReturned: Whether it would have come back to the head of its line, were there no successor.
    mutating func end(
        _ id: String,
        as ending: MemoryEnding,
        event: [UInt8]? = nil,
        result: [UInt8] = [],
        isReturned: Bool = false
    ) {
        if let event { keepHistory(of: id, ending, event, result) }
        ended.remember(id, ending)
        vacate(id)
        leaveName(id, isReturned: isReturned)
        jobs[id] = nil
    }

    private mutating func keepHistory(of id: String, _ ending: MemoryEnding, _ event: [UInt8], _ result: [UInt8]) {
        let events = [event] + (jobs[id]?.errors.events ?? [])
        let record = History.Record(at: now, events: events, result: result, ending: ending)
        history.keep(record, of: id)
    }

    /// Ends a job because a newer one took its name over.
    mutating func endReplaced(_ id: String, event: [UInt8]? = nil, isReturned: Bool = false) {
        count(.replaced)
        end(id, as: .replaced, event: event, isReturned: isReturned)
    }

    /// Sets a job aside for a person. Its name is free from now on.
    mutating func die(_ id: String, _ details: MemoryEventDetails) {
        guard let job = jobs[id] else { return }
        let event = publish(.dead, of: job, details)
        count(.dead)
        vacate(id)
        // First, for a clock that was put back makes the new one look the oldest.
        trimDead()
        jobs[id]?.place = .dead
        dead.insert(id, at: now)
        jobs[id]?.errors.keep(event)
        jobs[id]?.stop = nil
        leaveName(id)
    }

    private mutating func trimDead() {
        guard dead.count >= Self.mostDead, let oldest = dead.first() else { return }
        count(.deadTrimmed)
        end(oldest.id, as: .deleted)
    }

    /// Gives the name up: to the successor, who then goes to its place, or to whoever comes next.
    private mutating func leaveName(_ id: String, isReturned: Bool = false) {
        guard let job = jobs[id], let name = job.name else { return }
        if let successor = job.successor {
            jobs[id]?.successor = nil
            holders[name] = successor.id
            comeNext(successor.id, due: successor.due, atHead: isReturned)
        } else if holders[name] == id {
            holders[name] = nil
        }
    }

    /// Who waited for another job's end comes into line: at the head where that job would stand again.
    private mutating func comeNext(_ id: String, due: Int64, atHead: Bool) {
        guard atHead, due <= now else { return lineUp(id, due: due) }
        jobs[id]?.readySince = now
        giveBack(id)
    }

    /// The job has started, and was to hold its name until then.
    mutating func letNameGo(_ id: String) {
        leaveName(id)
        jobs[id]?.isNameless = true
    }

    /// If a successor waits, ends the holder as replaced by it.
    ///
    /// - Parameters:
    ///   - event: The event of the run's end, for the history.
    ///   - isReturned: Whether its claim ended without an outcome; its successor takes over its place in line then.
    mutating func giveWayToSuccessor(
        _ job: MemoryJob,
        attempt: Int,
        worker: String,
        event: [UInt8]? = nil,
        isReturned: Bool = false
    ) -> Bool {
        guard job.successor != nil else { return false }
        publish(.replaced, of: job, MemoryEventDetails(attempt: attempt, worker: worker))
        endReplaced(job.id, event: event, isReturned: isReturned)
        return true
    }
}

/// How a job comes to a place, leaves it, and ends.
extension QueueModel {
    /// To the end of its line, ready from now on; or scheduled while its time has not come.
    mutating func lineUp(_ id: JobID, due: Time = 0) {
        guard let job = jobs[id] else { return }
        if due > now {
            jobs[id]?.place = .scheduled(due)
        } else {
            jobs[id]?.readySince = now
            enter(job.isSuspect ? .suspects : .ready(priority: job.pushed.priority), id, atHead: false)
        }
    }

    /// Back to the head of its line, nothing spent. A suspect goes to the end of theirs.
    mutating func giveBack(_ id: JobID) {
        guard let job = jobs[id] else { return }
        if job.isSuspect {
            enter(.suspects, id, atHead: false)
        } else {
            enter(.ready(priority: job.pushed.priority), id, atHead: true)
        }
    }

    mutating func enter(_ line: Line, _ id: JobID, atHead: Bool) {
        lines[line, default: []].insert(id, at: atHead ? 0 : lines[line]?.count ?? 0)
        jobs[id]?.place = .line(line)
        effects.newWork += 1
    }

    /// Takes a job out of its place; it must be given another one, or end.
    mutating func leavePlace(_ id: JobID) {
        switch jobs[id]?.place {
        case .line(let line):
            lines[line]?.removeAll { $0 == id }
            if lines[line]?.isEmpty == true { lines[line] = nil }
        case .claimed(let session): sessions[session]?.claims.removeAll { $0.id == id }
        case .behind(let holder): jobs[holder]?.successor = nil
        case .scheduled, .retrying, .dead, nil: break
        }
    }

    /// Ends a job for good. A job that was given back leaves its place at the head to its successor.
    mutating func end(
        _ id: JobID,
        as ending: Ending,
        record event: Event? = nil,
        hasResult: Bool = false,
        wasGivenBack: Bool = false
    ) {
        if let event {
            let errors = jobs[id]?.errors ?? []
            keep(Record(event: event, errors: errors, hasResult: hasResult, ending: ending))
        }
        ended.latest[id] = ending
        leavePlace(id)
        leaveName(id, wasGivenBack: wasGivenBack)
        jobs[id] = nil
    }

    private mutating func keep(_ record: Record) {
        history.removeAll { $0.id == record.id }
        history.append(record)
        effects.touchesHistory = true
    }

    /// At the end of a transition that touched the history.
    mutating func forgetOldRecords() {
        while let oldest = history.first, oldest.event.at <= now - settings.keepHistory { history.removeFirst() }
    }

    /// The name goes to the successor, who goes to its own place, or is free.
    mutating func leaveName(_ id: JobID, wasGivenBack: Bool = false) {
        guard let job = jobs[id], let name = job.name else { return }
        if let successor = job.successor, let due = jobs[successor]?.pushed.due {
            jobs[id]?.successor = nil
            holders[name] = successor
            if wasGivenBack, due <= now {
                jobs[successor]?.readySince = now
                giveBack(successor)
            } else {
                lineUp(successor, due: due)
            }
        } else if holders[name] == id {
            holders[name] = nil
        }
    }

    /// Sets a job aside for a person. Its name is free.
    mutating func die(_ id: JobID, _ run: Run) {
        guard let job = jobs[id] else { return }
        let event = publish(.dead, job.pushed, run)
        count(.dead)
        leavePlace(id)
        jobs[id]?.place = .dead(now)
        jobs[id]?.keepError(event)
        jobs[id]?.stop = nil
        leaveName(id)
    }

    /// Ends a job whose successor waits. Answers whether one does.
    mutating func giveWayToSuccessor(
        _ job: Job,
        _ run: Run,
        record event: Event? = nil,
        wasGivenBack: Bool = false
    ) -> Bool {
        guard job.successor != nil else { return false }
        publish(.replaced, job.pushed, Run(attempt: run.attempt, worker: run.worker))
        count(.replaced)
        end(job.id, as: .replaced, record: event, wasGivenBack: wasGivenBack)
        return true
    }
}

/// How a job comes to a place and leaves it. Every transition moves jobs through these.
extension MemoryQueue {
    /// To the end of its line, or scheduled while its time has not come. In line, it is ready from now on.
    mutating func lineUp(_ id: String, due: Int64 = 0) {
        guard due <= now else { return schedule(id, at: due) }
        guard let line = jobs[id]?.line else { return }
        jobs[id]?.readySince = now
        lines[line, default: Line()].append(id)
        jobs[id]?.place = .line(line)
        outbox.newWork += 1
    }

    private mutating func schedule(_ id: String, at due: Int64) {
        scheduled.insert(id, at: due)
        jobs[id]?.place = .scheduled
    }

    /// Back to the head of its line, ready since when it was. A suspect goes to the end of theirs.
    mutating func giveBack(_ id: String) {
        guard let line = jobs[id]?.line else { return }
        if line == .suspects {
            lines[line, default: Line()].append(id)
        } else {
            lines[line, default: Line()].prepend(id)
        }
        jobs[id]?.place = .line(line)
        outbox.newWork += 1
    }

    /// To wait for a session that knows its operation.
    mutating func park(_ id: String, operation: String) {
        enter(.parked(operation: operation, priority: jobs[id]?.header.priority ?? 5), id)
        outbox.newWork += 1
    }

    /// To the end of a line; it must have left its place.
    mutating func enter(_ line: LineName, _ id: String) {
        lines[line, default: Line()].append(id)
        jobs[id]?.place = .line(line)
    }

    mutating func retryLater(_ id: String, after milliseconds: Int64) {
        retrying.insert(id, at: MemoryRules.later(now, by: max(milliseconds, 0)))
        jobs[id]?.place = .retrying
    }

    /// Takes a job out of the place it is in; it must be given another one or end.
    mutating func vacate(_ id: String) {
        switch jobs[id]?.place {
        case .line(let line):
            lines[line]?.remove(id)
            if lines[line]?.isEmpty == true { lines[line] = nil }
        case .scheduled: scheduled.remove(id)
        case .retrying: retrying.remove(id)
        case .claimed(let session): sessions[session]?.claims[id] = nil
        case .deferred(let holder): jobs[holder]?.successor = nil
        case .dead: dead.remove(id)
        case nil: break
        }
    }
}

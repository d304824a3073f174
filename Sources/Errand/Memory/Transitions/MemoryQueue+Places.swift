/// Moves jobs between places. Every transition uses these methods.
extension MemoryQueue {
    /// Appends a job to its ready list, or schedules it if it is not due. It is ready from now on.
    mutating func enqueue(_ id: String, due: Int64 = 0) {
        guard due <= now else { return schedule(id, at: due) }
        guard let list = jobs[id]?.readyList else { return }
        jobs[id]?.readySince = now
        appendJob(list, id)
        noteWork(in: list)
    }

    private mutating func schedule(_ id: String, at due: Int64) {
        scheduled.insert(id, at: due)
        jobs[id]?.place = .scheduled
    }

    /// Returns a job to the head of its ready list; its ready time does not change. A quarantined job goes to the end
    /// of its list.
    mutating func requeue(_ id: String) {
        guard let list = jobs[id]?.readyList else { return }
        if list == .quarantined {
            readyLists[list, default: ReadyList()].append(id)
        } else {
            readyLists[list, default: ReadyList()].prepend(id)
        }
        noteAdded(to: list)
        jobs[id]?.place = .listed(list)
        noteWork(in: list)
    }

    /// Makes a job unroutable: it waits for a session that has its operation.
    mutating func makeUnroutable(_ id: String, operation: String) {
        appendJob(.unroutable(operation: operation, priority: jobs[id]?.header.priority ?? 5), id)
        effects.newWork += 1
    }

    /// Appends a job that has left its place to a ready list.
    mutating func appendJob(_ list: ReadyListName, _ id: String) {
        readyLists[list, default: ReadyList()].append(id)
        noteAdded(to: list)
        jobs[id]?.place = .listed(list)
    }

    mutating func retryLater(_ id: String, after milliseconds: Int64) {
        retrying.insert(id, at: MemoryRules.later(now, by: max(milliseconds, 0)))
        jobs[id]?.place = .retrying
    }

    /// Removes a job from its place; it must then get another one or end.
    mutating func removeFromPlace(_ id: String) {
        switch jobs[id]?.place {
        case .listed(let list):
            readyLists[list]?.remove(id)
            if readyLists[list]?.isEmpty == true {
                readyLists[list] = nil
                noteEmptied(list)
            }
        case .scheduled: scheduled.remove(id)
        case .retrying: retrying.remove(id)
        case .claimed(let session): sessions[session]?.claims[id] = nil
        case .deferred(let holder): jobs[holder]?.successor = nil
        case .dead: dead.remove(id)
        case nil: break
        }
    }
}

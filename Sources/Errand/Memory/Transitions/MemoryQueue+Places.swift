/// Moves jobs between places. Every transition uses these methods.
extension MemoryQueue {
    /// Appends a job to its ready list, or schedules it if it is not due. It is ready from now on.
    mutating func enqueue(_ id: String, due: Int64 = 0) {
        guard due <= now else { return schedule(id, at: due) }
        guard let list = readyList(of: id) else { return }
        jobs[id]?.readySince = now
        add(id, to: list, atHead: unblock(id))
    }

    /// The list in which a job with this header waits unless it is quarantined. An ordered group ignores priorities.
    func waitingList(of header: MemoryHeader) -> ReadyListName {
        guard let group = header.group else { return .ready(header.priority) }
        return .group(group, priority: groups.rule(of: group).order == nil ? header.priority : 5)
    }

    /// The ready list for a job.
    func readyList(of id: String) -> ReadyListName? {
        jobs[id].map { $0.isQuarantined ? .quarantined : waitingList(of: $0.header) }
    }

    mutating func add(_ id: String, to list: ReadyListName, atHead: Bool) {
        if atHead {
            readyLists[list, default: ReadyList()].prepend(id)
        } else {
            readyLists[list, default: ReadyList()].append(id)
        }
        noteAdded(to: list)
        jobs[id]?.place = .listed(list)
        noteWork(in: list)
    }

    private mutating func schedule(_ id: String, at due: Int64) {
        scheduled.insert(id, at: due)
        jobs[id]?.place = .scheduled
    }

    /// Returns a job to the head of its ready list; its ready time does not change. A quarantined job goes to the end
    /// of its list.
    mutating func requeue(_ id: String) {
        guard let list = readyList(of: id) else { return }
        unblock(id)
        add(id, to: list, atHead: list != .quarantined)
    }

    /// Makes a job unroutable: it waits for a session that has its operation.
    mutating func makeUnroutable(_ id: String, operation: String) {
        appendJob(.unroutable(operation: operation, priority: jobs[id]?.header.priority ?? 5), id)
        effects.newWork += 1
    }

    /// Lets an ordered group go on that waits for this job, because the job is about to be its head again. Quarantined
    /// jobs wait elsewhere. Returns whether the group waited for it.
    @discardableResult
    private mutating func unblock(_ id: String) -> Bool {
        guard let job = jobs[id], !job.isQuarantined else { return false }
        return unblockGroup(of: job)
    }

    /// Appends a job that has left its place to a ready list.
    mutating func appendJob(_ list: ReadyListName, _ id: String) {
        readyLists[list, default: ReadyList()].append(id)
        noteAdded(to: list)
        jobs[id]?.place = .listed(list)
    }

    /// Moves a job of a group, which was unroutable, to the list of its group.
    mutating func moveToGroup(_ id: String, _ list: ReadyListName) { add(id, to: list, atHead: unblock(id)) }

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
        case .blocked: break
        case .dead: dead.remove(id)
        case nil: break
        }
    }
}

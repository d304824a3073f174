/// Cancel and delete: end waiting jobs; cancel also asks running ones to stop, and delete also removes dead and ended
/// ones.
extension MemoryQueue {
    package mutating func cancel(_ id: String) -> EndingOutcome {
        guard let job = jobs[id] else {
            return ended.ending(of: id, now: now) != nil || history[id] != nil ? .ended : .notFound
        }
        switch job.place {
        case .dead: return .dead
        case .claimed(let session):
            requestStop(id, of: session, because: .cancel)
            return .stopping
        case .listed, .scheduled, .retrying, .deferred, .blocked:
            endWaiting(job, as: .cancelled)
            return .cancelled
        }
    }

    package mutating func delete(_ id: String) -> EndingOutcome {
        guard let job = jobs[id] else { return forget(id) }
        switch job.place {
        case .claimed: return .running
        case .dead: end(id, as: .deleted)
        case .listed, .scheduled, .retrying, .deferred, .blocked: endWaiting(job, as: .deleted)
        }
        return .deleted
    }

    private mutating func forget(_ id: String) -> EndingOutcome {
        if history.remove(id) { return .deleted }
        return ended.ending(of: id, now: now) != nil ? .ended : .notFound
    }

    private mutating func endWaiting(_ job: MemoryJob, as ending: MemoryEnding) {
        if case .deferred(let holder) = job.place { withdrawStop(of: holder) }
        let event = publish(.cancelled, of: job, MemoryEventDetails(attempt: job.failures))
        count(.cancelled)
        end(job.id, as: ending, event: ending == .cancelled ? event : nil)
    }

    /// Withdraws a successor's request to stop its holder, if the holder has not received it yet.
    private mutating func withdrawStop(of holder: String) {
        if jobs[holder]?.stop == .replace { jobs[holder]?.stop = nil }
    }

    /// Cancels waiting jobs, as many as one call may, successors last.
    package mutating func clear() -> Int {
        let waiting =
            (lineOrder.lazy.flatMap { self.readyLists[$0]?.ids ?? [] } + scheduled.sorted + retrying.sorted
            + successors + blockedJobs)
            .prefix(MemoryRules.jobsACall)
        for job in waiting.compactMap({ jobs[$0] }) { endWaiting(job, as: .cancelled) }
        return waiting.count
    }

    /// The ready lists in the order in which they are shown and cleared.
    var lineOrder: [ReadyListName] {
        [.quarantined] + (0...9).reversed().map { .ready($0) } + groupLists + unroutableLists
    }

    /// The lists of groups, the longest first.
    private var groupLists: [ReadyListName] {
        let found = readyLists.compactMap { list, members -> (count: Int, name: String, list: ReadyListName)? in
            guard case .group(let group, let level) = list else { return nil }
            return (members.count, "\(level):\(group.text)", list)
        }
        return found.sorted { ($0.count, $0.name) > ($1.count, $1.name) }.map(\.list)
    }
}

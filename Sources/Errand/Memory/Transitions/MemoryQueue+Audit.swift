/// Audit: checks the invariants. Only a bug in these transitions could violate one, so there is nothing to repair.
extension MemoryQueue {
    package var findings: [Finding] {
        jobs.values.sorted { $0.id < $1.id }.compactMap(misplaced) + strays + lostNames
    }

    private func misplaced(_ job: MemoryJob) -> Finding? {
        isThere(job)
            ? nil
            : finding("body_without_position", job.id, "the job is not where it is said to be, so it will not run")
    }

    private func isThere(_ job: MemoryJob) -> Bool {
        switch job.place {
        case .listed(let list): readyLists[list]?.contains(job.id) ?? false
        case .scheduled: scheduled[job.id] != nil
        case .retrying: retrying[job.id] != nil
        case .dead: dead[job.id] != nil
        case .claimed(let session): sessions[session]?.claims[job.id] != nil
        case .deferred(let holder): jobs[holder]?.successor == job.id
        case .blocked: waitsForOthers(job.id)
        }
    }

    /// Whether a job of a workflow waits for the seal, for another one that has not ended, or for its name.
    package func waitsForOthers(_ id: String) -> Bool {
        workflows.released.contains(id)
            || places(of: id).contains { place in
                guard let workflow = workflows.workflows[place.workflow] else { return false }
                return workflow.state == nil || !workflow.members[place.number].unmet.isEmpty
            }
    }

    /// Members of a place whose job is elsewhere or does not exist.
    private var strays: [Finding] {
        var strays: [String] = []
        for (list, members) in readyLists { strays += members.ids.filter { jobs[$0]?.place != .listed(list) } }
        strays += scheduled.sorted.filter { jobs[$0]?.place != .scheduled }
        strays += retrying.sorted.filter { jobs[$0]?.place != .retrying }
        strays += dead.sorted.filter { jobs[$0]?.place != .dead }
        for session in sessions.values {
            strays += session.claims.keys.filter { jobs[$0]?.place != .claimed(by: session.id) }
        }
        return strays.sorted().map {
            finding("position_without_body", $0, "a place is taken by a job that is not there")
        }
    }

    /// Names whose holder is not an unfinished job of that name.
    private var lostNames: [Finding] {
        holders.filter { name, id in jobs[id]?.name != name || jobs[id]?.place == .dead }.values.sorted()
            .map {
                finding("lock_without_holder", $0, "its name stays taken, so jobs of that name are dropped for nothing")
            }
    }

    private func finding(_ kind: String, _ subject: String, _ message: String) -> Finding {
        Finding(kind: kind, queue: name, subject: subject, message: message)
    }
}

package import Errand

extension MemoryQueue {
    /// Which safety invariant of a queue's state is broken, or `nil`.
    package var brokenInvariant: String? {
        misplacedJob ?? strayMember ?? brokenName ?? brokenClaim ?? brokenCount ?? brokenQuarantine ?? brokenGroup
            ?? brokenWorkflow
    }

    /// S2, one half: every job is where it says it is.
    private var misplacedJob: String? {
        for job in jobs.values {
            let isThere =
                switch job.place {
                case .listed(let line): readyLists[line]?.contains(job.id) ?? false
                case .claimed(let session): sessions[session]?.claims[job.id] != nil
                case .deferred(let holder): jobs[holder]?.successor == job.id && jobs[holder]?.holder != nil
                case .scheduled: scheduled[job.id] != nil
                case .retrying: retrying[job.id] != nil
                case .dead: dead[job.id] != nil
                case .blocked: waitsForOthers(job.id)
                }
            if !isThere { return "S2: job \(job.id) is not at \(job.place)" }
        }
        return nil
    }

    /// S2, the other half, and S3: no place has a member besides, or one twice.
    private var strayMember: String? {
        var (listed, claimed, timed) = (0, 0, 0)
        for job in jobs.values {
            switch job.place {
            case .listed: listed += 1
            case .claimed: claimed += 1
            case .scheduled, .retrying, .dead: timed += 1
            case .deferred, .blocked: break
            }
        }
        for (line, members) in readyLists {
            if members.count == 0 { return "an empty line \(line)" }
            listed -= members.count
        }
        if listed != 0 { return "S2: a stray in \(readyLists)" }
        for session in sessions.values { claimed -= session.claims.count }
        if claimed != 0 { return "S3: a session claims a job that is not there: \(sessions)" }
        if scheduled.count + retrying.count + dead.count != timed { return "S2: a stray that waits for a time" }
        return nil
    }

    /// S7 and S8: a name is held by the one unfinished job that has it, apart from the one that waits behind that.
    private var brokenName: String? {
        for (name, id) in holders where jobs[id]?.heldName != name || jobs[id]?.isDead == true {
            return "S8: name \(name) is locked by \(id)"
        }
        for job in jobs.values {
            guard let name = job.heldName, !job.isDead, job.place != .blocked else { continue }
            if let holder = job.predecessor {
                if holders[name] != holder { return "S7: \(job.id) waits behind \(holder), which holds no name" }
            } else if holders[name] != job.id {
                return "S7: \(job.id) has name \(name), held by \(String(describing: holders[name]))"
            }
        }
        return nil
    }

    private var brokenClaim: String? {
        for job in jobs.values {
            if job.stop != nil, job.holder == nil { return "\(job.id) is to stop, but does not run" }
            if job.stop == .replace, job.successor == nil { return "\(job.id) is to stop for nobody" }
            if job.successor != nil, job.holder == nil { return "\(job.successor ?? "") waits behind no run" }
        }
        for state in sessions.values {
            if state.claims.values.contains(where: { $0.token > lastToken }) { return "S5: a token from the future" }
        }
        return nil
    }

    /// S13: crash counts within their limits, the last of which is for the dead.
    private var brokenCount: String? {
        for job in jobs.values where job.soloCrashes > (job.isDead ? 4 : 3) || job.soloCrashes > job.crashes {
            return "S13: \(job.id) crashed \(job.crashes) times, \(job.soloCrashes) alone"
        }
        return nil
    }

    /// A slot is the claim itself, and a group with jobs is found or held back.
    private var brokenGroup: String? {
        var claimed: [String: Set<String>] = [:]
        for job in jobs.values where job.holder != nil {
            for part in job.header.group?.limited ?? [] where groups.limit(of: GroupName(valid: part)) != nil {
                claimed[part, default: []].insert(job.id)
            }
        }
        if claimed != groups.slots { return "slots \(groups.slots) of claims \(claimed)" }
        for case .group(let group, let level) in readyLists.keys where !isFound(group, level) {
            return "group \(group.text) is lost at level \(level)"
        }
        return brokenRest
    }

    /// A group is held back only for a reason, and an ordered one waits for a job of its own.
    private var brokenRest: String? {
        for group in groups.heldBack.keys where !groups.mustWait(GroupName(valid: group), at: now) {
            // A rest that is over ends with the next claim or promotion, and one is too long after the clock was set back.
            guard groups.rates.resting[group] != nil || groups.reconsiders else {
                return "group \(group) is held back without a reason"
            }
        }
        for (group, id) in groups.blocked where jobs[id]?.header.group?.text != group {
            return "group \(group) waits for job \(id), which is not there"
        }
        return nil
    }

    private func isFound(_ group: GroupName, _ level: Int) -> Bool {
        if group.limited.contains(where: { groups.heldBack[$0]?.contains(level) == true }) { return true }
        guard groups.nodes[.init(level: level)]?.eligible[group.first] != nil else { return false }
        return group.second.map { groups.nodes[.init(level: level, first: group.first)]?.eligible[$0] != nil } ?? true
    }

    /// S13: what is suspected of killing its workers never runs beside anything else.
    private var brokenQuarantine: String? {
        for (session, state) in sessions where state.claims.count > 1 {
            if let id = state.claims.keys.first(where: { jobs[$0]?.isQuarantined == true }) {
                return "S13: suspect \(id) is not alone at session \(session)"
            }
        }
        return nil
    }
}

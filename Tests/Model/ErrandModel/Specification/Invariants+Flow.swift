import Errand

/// What the rules of groups promise of a single transition, as far as the exploration and the simulation have it in
/// common. They remember earlier starts and the order of jobs in their own ways.
extension MemoryQueue {
    /// A claim that a transition has made.
    struct Start: Sendable {
        let id: String
        let token: Token
    }

    /// The claims that the last transition made.
    func starts(since before: MemoryQueue) -> [Start] {
        var starts: [Start] = []
        for (id, session) in sessions {
            for (job, claim) in session.claims where before.sessions[id]?.claims[job]?.token != claim.token {
                starts.append(Start(id: job, token: claim.token))
            }
        }
        return starts
    }

    /// The groups whose rules concern a job: the whole queue, its first part, and itself.
    func parts(of id: String) -> [String] { [""] + (jobs[id]?.header.group?.limited ?? []) }

    /// G1: after a start, a group has no more claims than its rule allows.
    func brokenLimit(of part: String, _ rule: FlowRule) -> String? {
        guard let most = rule.order == nil ? rule.atOnce : 1 else { return nil }
        let count = jobs.values.count { job in
            job.holder != nil && (part.isEmpty || job.header.group?.limited.contains(part) == true)
        }
        return count > most ? "G1: \(count) jobs of group \"\(part)\" are claimed, \(most) at once" : nil
    }

    /// G2: in no time that ends with a start at `now`, a group starts more jobs than its rate and its burst allow.
    ///
    /// - Parameter earlier: The times of the starts before it that count, in order.
    static func brokenRate(of part: String, _ rate: FlowRate, after earlier: [Time], at now: Time) -> String? {
        for (count, time) in zip(2..., earlier.reversed()) {
            let most = Time(rate.burst) + (now - time) * Time(rate.starts) / Time(rate.per.wholeMilliseconds)
            if count > most { return "G2: group \"\(part)\" started \(count) jobs from \(time) to \(now)" }
        }
        return nil
    }

    /// G3: no job of an ordered group starts before one that precedes it.
    func brokenOrder(
        of id: String,
        _ order: FlowOrder,
        since before: MemoryQueue,
        precedes: (MemoryJob) -> Bool
    ) -> String? {
        let group = jobs[id]?.header.group
        let earlier = jobs.values.first { job in
            job.id != id && before.jobs[job.id] != nil && job.header.group == group && precedes(job)
                && !(order == .skipDead && job.isDead)
        }
        return earlier.map { "G3: \(id) started before \($0.id)" }
    }

    // MARK: Full groups

    /// G5: a group accepts no due job while as many jobs of it are ready as its rule allows.
    func brokenAcceptance(of id: String, since before: MemoryQueue) -> String? {
        guard let job = jobs[id], job.place != .scheduled else { return nil }
        let full = job.header.group?.limited.first { before.isFullOfWaiting($0) }
        return full.map { "G5: \(id) was accepted although group \"\($0)\" is full" }
    }

    /// G5: a job is refused only because its group is full.
    func brokenRefusal(of id: String, _ group: String?, since before: MemoryQueue) -> String? {
        guard let group, before.isFullOfWaiting(group) else { return "G5: \(id) was refused, but no group is full" }
        return jobs[id] == nil ? nil : "G5: \(id) was refused, and is there"
    }

    private func isFullOfWaiting(_ part: String) -> Bool {
        guard let most = groups.rule(of: GroupName(valid: part)).maxWaiting else { return false }
        let waiting = jobs.values.count { job in
            guard case .listed(.group(let group, _)) = job.place else { return false }
            return group.limited.contains(part)
        }
        return waiting >= most
    }

    // MARK: Waiting

    /// Whether a session would be given a job.
    var hasClaimable: Bool {
        readyLists.contains { list, members in
            switch list {
            case .group(let group, _): !mustWait(group)
            case .quarantined: members.first.map { !mustWait(quarantined: $0) } ?? false
            default: true
            }
        }
    }

    private func mustWait(quarantined id: String) -> Bool {
        jobs[id]?.header.group?.limited.contains { groups.mustWait(GroupName(valid: $0), for: id, at: now) } ?? false
    }

    /// The dead jobs for which ordered groups wait until an operator retries or deletes them.
    var deadHoldingUpGroups: [String] {
        groups.deadBlockers.filter { id in
            jobs[id]?.header.group.map { groups.rule(of: $0).order == .holdDead } ?? false
        }.sorted()
    }
}

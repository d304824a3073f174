/// Shares by run time, if the rule of the whole queue asks for them: a claim is charged the mean run time of the queue in
/// advance, and the difference when it ends.
extension MemoryQueue {
    /// What a claim of a level is charged in advance; `nil` if shares are not by run time.
    func estimate(at level: Int) -> MemoryCharge? {
        guard groups.rule(of: .wholeQueue).isFairByTime else { return nil }
        return MemoryCharge(level: level, milliseconds: max(1, groups.meanRun / 1000))
    }

    /// Charges the groups of claims that have ended the differences between their run times and what they were charged.
    mutating func settle(_ ended: [MemoryEndedClaim]) {
        guard groups.hasRules else { return }
        var (runs, total) = (Int64(0), Int64(0))
        var differences: [MemoryChargedGroup: Int64] = [:]
        for end in ended {
            guard let charge = end.claim.charge else { continue }
            let time = min(max(Int64(end.milliseconds), 0), Self.longestRun)
            if end.hasRun { (runs, total) = (runs + 1, total + time) }
            let charged = MemoryChargedGroup(level: charge.level, group: end.group)
            differences[charged, default: 0] += time - charge.milliseconds
        }
        for (charged, milliseconds) in differences { correct(charged.level, charged.group, by: milliseconds) }
        guard runs > 0 else { return }
        let latest = 1000 * total / runs
        groups.meanRun = groups.meanRun > 0 ? (9 * groups.meanRun + latest) / 10 : latest
    }

    /// The longest run that counts, in milliseconds.
    private static let longestRun: Int64 = 1_000_000_000_000

    private mutating func correct(_ level: Int, _ group: GroupName?, by milliseconds: Int64) {
        guard let group else { return move("", .init(level: level), milliseconds, weight: 1) }
        let first = GroupName(valid: group.first)
        move(group.first, .init(level: level), milliseconds, weight: groups.rule(of: first).weight ?? 1)
        let weight = group.second == nil ? 1 : groups.rule(of: group).weight ?? 1
        move(group.second ?? "", .init(level: level, first: group.first), milliseconds, weight: weight)
    }

    private mutating func move(_ child: String, _ place: MemoryGroupNode.Place, _ milliseconds: Int64, weight: Int) {
        let (quotient, rest) = (1000 * milliseconds).quotientAndRemainder(dividingBy: Int64(weight))
        groups.nodes[place]?.move(child, by: rest < 0 ? quotient - 1 : quotient, at: now)
    }
}

/// A claim that has ended by a report.
struct MemoryEndedClaim {
    let claim: MemoryClaim
    let group: GroupName?
    let milliseconds: Int
    /// Whether the job has run, and was neither released nor unroutable.
    let hasRun: Bool

    init(_ claim: MemoryClaim, _ group: GroupName?, _ milliseconds: Int, _ hasRun: Bool) {
        (self.claim, self.group, self.milliseconds, self.hasRun) = (claim, group, milliseconds, hasRun)
    }
}

/// The group of claims that were charged at a level.
private struct MemoryChargedGroup: Hashable {
    let level: Int
    let group: GroupName?
}

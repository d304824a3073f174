/// Shares by run time, if the rule of the whole queue asks for them: a claim is charged the mean run time of the queue in
/// advance, and the difference when it ends.
extension MemoryQueue {
    /// What a claim of a level is charged in advance; `nil` if shares are not by run time.
    func estimate(at level: Int) -> MemoryCharge? {
        guard groups.rule(of: .wholeQueue).isFairByTime else { return nil }
        return MemoryCharge(level: level, milliseconds: max(1, groups.meanRun / 1000))
    }

    /// Charges the groups of claims that have ended the differences between their run times and what they were charged.
    mutating func settle(_ ended: [(claim: MemoryClaim, group: GroupName?, milliseconds: Int)]) {
        var (runs, total) = (Int64(0), Int64(0))
        var differences: [MemoryChargedGroup: Int64] = [:]
        for (claim, group, milliseconds) in ended {
            guard let charge = claim.charge else { continue }
            let time = min(max(Int64(milliseconds), 0), Self.longestRun)
            runs += 1
            total += time
            differences[MemoryChargedGroup(level: charge.level, group: group), default: 0] += time - charge.milliseconds
        }
        guard runs > 0 else { return }
        for (charged, milliseconds) in differences { correct(charged.level, charged.group, by: milliseconds) }
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

/// The group of claims that were charged at a level.
private struct MemoryChargedGroup: Hashable {
    let level: Int
    let group: GroupName?
}

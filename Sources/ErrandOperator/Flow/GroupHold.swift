package import Errand
import ErrandText

/// What holds back the waiting jobs of a group: a rule or a rest of its own, of its first part or of the whole queue.
package struct GroupHold: Sendable, Equatable {
    /// The reason.
    package let reason: JobWait.Reason
    /// What the jobs wait for, for people.
    package let words: String

    /// - Parameters:
    ///   - status: The group, the first part of it, or the whole queue.
    ///   - group: The group that waits.
    fileprivate init?(_ status: GroupStatus, of group: GroupStatus, now: Int64) {
        guard let reason = status.hold else { return nil }
        self.reason = reason
        let whose = status.group == group.group ? "" : status.group.isEmpty ? " of the queue" : " of \(status.group)"
        let rest = TimeSpanText.rounded(max((status.restingUntil ?? now) - now, 0))
        words =
            switch reason {
            case .ordered: "job \(status.blocker ?? "-")" + whose
            case .rate: whose.isEmpty ? "its rate: \(rest)" : "the rate\(whose): \(rest)"
            case .resting: "a rest\(whose): \(rest)"
            default: "a free slot" + whose
            }
    }
}

extension GroupStatus {
    /// Whether it is the whole queue, whose waiting jobs are not counted.
    package var isWholeQueue: Bool { group.isEmpty }

    /// Why no job of it may start, by its own rule; `nil` if one may.
    package var hold: JobWait.Reason? {
        if blocker != nil { return .ordered }
        if restingUntil != nil { return isAtRate ? .rate : .resting }
        guard isFull else { return nil }
        return isWholeQueue ? .queueFull : .groupFull
    }
}

extension ConsoleBroker {
    /// Returns what holds back each of the groups of a queue that have waiting jobs, by the names of the groups.
    ///
    /// It reads the whole queue and the first parts of the groups; like `errand why`, it names these first.
    package func holds(
        of groups: [GroupStatus],
        in queue: String,
        now: Int64
    ) async throws(BrokerError) -> [String: GroupHold] {
        let waiting = groups.filter { $0.waiting > 0 }
        guard !waiting.isEmpty else { return [:] }
        let hasRule = try await flow(of: queue).contains(where: \.pattern.isEmpty)
        let firstParts = Dictionary(
            waiting.compactMap { group in
                GroupName(group.group).flatMap { $0.second == nil ? nil : (group.group, $0.first) }
            }
        ) { $1 }
        let others = (hasRule ? [""] : []) + Set(firstParts.values).sorted()
        let read = try await others.concurrently { name throws(BrokerError) in
            try await self.groups(of: queue, named: name, most: 1)
        }
        let statuses = Dictionary(zip(others, read).compactMap { name, read in read.first.map { (name, $0) } }) { $1 }
        var holds: [String: GroupHold] = [:]
        for group in waiting {
            let all = [statuses[""], firstParts[group.group].flatMap { statuses[$0] }, group]
            holds[group.group] = all.lazy.compactMap { $0 }.compactMap { GroupHold($0, of: group, now: now) }.first
        }
        return holds
    }
}

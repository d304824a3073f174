package import Errand

extension GroupStatus {
    /// The number of groups that lists have.
    package static let listed = 20

    /// Whether as many of its jobs are claimed as its rule allows.
    package var isFull: Bool { limit.map { held >= $0 } ?? false }

    /// The group as JSON for programs.
    package var json: JSONOutput {
        [
            "group": .text(group), "waiting": .count(waiting), "held": .count(held),
            "limit": .number(orNull: limit.map(Int64.init)), "resting_until_ms": .number(orNull: restingUntil),
        ]
    }
}

extension ConsoleBroker {
    /// Returns the groups of a queue with the most waiting jobs, in one call.
    ///
    /// A queue without ready and claimed jobs has no groups, so the broker is not asked.
    ///
    /// - Parameter most: The largest number of groups.
    package func largestGroups(
        of queue: QueueStatus,
        most: Int = GroupStatus.listed
    ) async throws(BrokerError) -> [GroupStatus] {
        guard queue.ready > 0 || queue.running > 0 else { return [] }
        return try await groups(of: queue.name, named: nil, most: most)
    }

    /// Returns whether a queue has groups or rules for them.
    package func hasGroupsOrRules(_ queue: QueueStatus) async throws(BrokerError) -> Bool {
        if try await !flow(of: queue.name).isEmpty { return true }
        return try await !largestGroups(of: queue, most: 1).isEmpty
    }
}

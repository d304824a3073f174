import Errand
import ErrandRedis

/// Looks for queues that the registry does not name: evicted, or deleted by hand, it hides them from every console.
struct RegistryExamination {
    private static let pauseBetweenLooks = Duration.milliseconds(300)

    let broker: RedisBroker
    let repair: Bool

    /// A finding for each such queue. A queue that was made this very moment is none: only what is seen twice counts.
    func findings() async throws -> [Finding] {
        let first = try await broker.unlistedQueues()
        guard !first.isEmpty else { return [] }
        try await Task.sleep(for: Self.pauseBetweenLooks)
        let lasting = Set(first).intersection(try await broker.unlistedQueues()).sorted()
        if repair { for queue in lasting { try await broker.list(queue) } }
        return lasting.map { queue in
            Finding(
                kind: "queue_not_listed",
                queue: queue,
                subject: queue,
                message: "the queue has keys but is not in the registry: consoles do not show it. Repair lists it",
                repaired: repair
            )
        }
    }
}

import Errand
import ErrandRedis

/// Audits queues. What was in motion during one look is gone at the next, so only what is seen twice is a finding.
struct QueueExamination {
    private static let pauseBetweenLooks = Duration.milliseconds(300)

    let broker: RedisBroker
    let repair: Bool

    /// The findings of all these queues.
    func findings(in queues: [String]) async throws -> [Finding] {
        var findings: [Finding] = []
        for queue in queues { findings += try await self.findings(in: queue) }
        return findings
    }

    private func findings(in queue: String) async throws -> [Finding] {
        let first = try await broker.audit(queue, repair: false)
        guard !first.isEmpty else { return [] }
        try await Task.sleep(for: Self.pauseBetweenLooks)
        let lasting = Set(first.map(\.identity)).intersection(
            try await broker.audit(queue, repair: false).map(\.identity)
        )
        guard !lasting.isEmpty else { return [] }
        guard repair else { return first.filter { lasting.contains($0.identity) } }
        return try await broker.audit(queue, repair: true)
    }
}

extension Finding {
    /// What makes two findings the same.
    fileprivate var identity: [String] { [kind, queue, subject] }
}

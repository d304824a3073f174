import Errand
import ErrandCommandLine
import ErrandRedis
import Synchronization

/// Audits queues one after the other, with a bar on a terminal that shows how far it is.
struct QueueExamination {
    let broker: RedisBroker
    let repair: Bool

    /// The findings of all these queues.
    func findings(in queues: [String]) async throws -> [Finding] {
        var findings: [Finding] = []
        for queue in queues { findings += repair ? try await mended(queue) : try await self.findings(in: queue) }
        return findings
    }

    /// What is mended may show what else is wrong, so a queue is looked at until there is nothing more to mend.
    private func mended(_ queue: String) async throws -> [Finding] {
        var mended: [Finding] = []
        for _ in 0..<Self.roundsAtMost {
            let found = try await findings(in: queue)
            mended += found.filter(\.repaired)
            guard found.contains(where: \.repaired) else { return mended + found }
        }
        return mended + (try await findings(in: queue)).filter { !$0.repaired }
    }

    private static let roundsAtMost = 5

    private func findings(in queue: String) async throws -> [Finding] {
        let bar = Mutex(ProgressBar(total: 1000))
        defer { bar.withLock { $0.hide() } }
        return try await broker.audit(queue, repair: repair) { done, total in
            bar.withLock { $0.update(Int64(done) * 1000 / Int64(max(1, total)), "queue \(queue)") }
        }
    }
}

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
        for queue in queues { findings += try await self.findings(in: queue) }
        return findings
    }

    private func findings(in queue: String) async throws -> [Finding] {
        let bar = Mutex(ProgressBar(total: 1000))
        defer { bar.withLock { $0.hide() } }
        return try await broker.audit(queue, repair: repair) { done, total in
            bar.withLock { $0.update(Int64(done) * 1000 / Int64(max(1, total)), "queue \(queue)") }
        }
    }
}

import Errand
import ErrandCommandLine
import ErrandRedis
import Synchronization

/// Audits queues one after the other, with a bar on a terminal that shows how far it is.
struct QueueExamination {
    let broker: RedisBroker
    let repair: Bool

    /// The findings of all these queues, added to a list that is right also where the broker fails in the middle.
    func add(to findings: inout [Finding], in queues: [String]) async throws(BrokerError) {
        for queue in queues {
            if repair { try await mend(queue, &findings) } else { findings += try await self.findings(in: queue) }
        }
    }

    /// What is mended may show what else is wrong, so a queue is looked at until there is nothing more to mend.
    private func mend(_ queue: String, _ findings: inout [Finding]) async throws(BrokerError) {
        for _ in 0..<Self.roundsAtMost {
            let found = try await self.findings(in: queue)
            findings += found.filter(\.repaired)
            guard found.contains(where: \.repaired) else { return findings += found }
        }
        findings += try await self.findings(in: queue).filter { !$0.repaired }
    }

    private static let roundsAtMost = 5

    private func findings(in queue: String) async throws(BrokerError) -> [Finding] {
        let bar = Mutex(ProgressBar(total: 1000))
        defer { bar.withLock { $0.hide() } }
        return try await broker.audit(queue, repair: repair) { done, total in
            bar.withLock { $0.update(Int64(done) * 1000 / Int64(max(1, total)), "queue \(queue)") }
        }
    }
}

import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import Synchronization

/// An audit of queues one after the other, with a progress bar on a terminal.
struct QueueExamination {
    let broker: RedisBroker
    let repair: Bool

    /// Adds the findings of these queues to a list, which is valid even if the broker fails in the middle.
    ///
    /// - Returns: The queues that cannot be served, while their servers reply.
    func add(to findings: inout [Finding], in queues: [String]) async throws(BrokerError) -> [UnreadablePlace] {
        var stuck: [UnreadablePlace] = []
        for queue in queues {
            do throws(BrokerError) { try await examine(queue, &findings) } catch {
                guard error.concernsOneQueue else { throw error }
                stuck.append(UnreadablePlace(queue: queue, error: error))
            }
        }
        return stuck
    }

    private func examine(_ queue: String, _ findings: inout [Finding]) async throws(BrokerError) {
        if repair { try await mend(queue, &findings) } else { findings += try await self.findings(in: queue) }
    }

    /// Repairs a queue. A repair may uncover further problems, so it repeats the audit until there is nothing to
    /// repair.
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

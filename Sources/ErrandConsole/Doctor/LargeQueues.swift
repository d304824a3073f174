import Errand
import ErrandCommandLine
import ErrandRedis

/// A search for queues of a cluster whose slot cannot be moved without a long pause.
struct LargeQueues {
    /// Both servers are blocked for about half a second while so many bytes are moved.
    private static let mostBytes: Int64 = 100 << 20
    /// The number of jobs whose size is looked up.
    private static let sample = 20
    /// No value in Redis is larger.
    private static let largest: Int64 = 512 << 20

    let broker: RedisBroker

    /// Returns advice for each such queue.
    func advice(on queues: [String]) async throws(BrokerError) -> [Advice] {
        guard try await broker.isCluster() else { return [] }
        var advice: [Advice] = []
        for queue in queues {
            let bytes = try await size(of: queue)
            guard bytes > Self.mostBytes else { continue }
            let message =
                "its jobs take about \(bytes >> 20) MiB in one key. Moving its slot key by key blocks both servers for about a "
                + "second for each 200 MiB, and fails above the target's proto-max-bulk-len (512 MiB if it is not "
                + "set): first let workers finish the jobs, or use servers that move slots atomically"
            advice.append(Advice(kind: "large_queue", queue: queue, message: message))
        }
        return advice
    }

    /// Estimates the size of all jobs in bytes from a sample. A key of the wrong type has none; that is a finding.
    private func size(of queue: String) async throws(BrokerError) -> Int64 {
        let key = KeySpace.key(of: queue) + ":body"
        do throws(BrokerError) {
            let count = try await ask(queue, .command("HLEN", key)).number ?? 0
            guard count > 0 else { return 0 }
            let ids = try await ask(queue, .command("HRANDFIELD", key, "\(Self.sample)")).elements ?? []
            var total: Int64 = 0
            for id in ids.prefix(Self.sample).compactMap(\.text) {
                total += min(max(0, try await ask(queue, .command("HSTRLEN", key, id)).number ?? 0), Self.largest)
            }
            let (bytes, overflow) = (total / Int64(max(1, min(ids.count, Self.sample)))).multipliedReportingOverflow(
                by: count
            )
            return overflow ? .max : bytes
        } catch {
            guard error.code == .refused else { throw error }
            return 0
        }
    }

    private func ask(_ queue: String, _ words: CommandWriter) async throws(BrokerError) -> RESPValue {
        try await broker.command(words, for: .queue(queue))
    }
}

package import Errand

/// The last failures of jobs that are dead, or wait to be tried again.
package enum RecentFailures {
    /// What is read of all queues together, about: a broker with thousands of them is not to be asked for everything.
    private static let mostRead = 1000

    /// Reads them, some of every queue that has such jobs, so that a queue with many does not hide those of the others.
    ///
    /// - Parameters:
    ///   - queues: The queues, as they are now.
    ///   - broker: Who is asked.
    ///   - most: How many are wanted.
    /// - Returns: The latest, the oldest of them first.
    package static func read(
        of queues: [QueueStatus],
        on broker: any ConsoleBroker,
        atMost most: Int
    ) async throws(BrokerError) -> [JobEvent] {
        let failed = queues.filter { $0.dead > 0 || $0.retrying > 0 }.prefix(mostRead / 20)
        let each = max(10, min(most, mostRead / max(1, failed.count)))
        let retrying = Dictionary(failed.map { ($0.name, $0.retrying) }) { $1 }
        let events = try await failed.map(\.name).readingEach { queue throws(BrokerError) in
            let dead = try await broker.jobs(in: .dead, on: queue, from: 0, count: each).jobs
            // Those that failed last are mostly due last.
            let from = max(0, (retrying[queue] ?? 0) - each)
            let retrying = try await broker.jobs(in: .retrying, on: queue, from: from, count: each).jobs
            return (dead + retrying).compactMap { JobEvent(line: $0.lastEvent) }
        }
        let sorted = events.values.flatMap(\.value).sorted { $0.atMilliseconds ?? 0 < $1.atMilliseconds ?? 0 }
        return Array(sorted.suffix(most))
    }
}

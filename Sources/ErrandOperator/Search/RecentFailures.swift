package import Errand

/// The last failures of dead and retrying jobs.
package enum RecentFailures {
    /// The approximate number of jobs to read from all queues together, since a broker may have thousands of queues.
    private static let mostRead = 1000

    /// Reads failures from the first 50 queues with dead or retrying jobs, some from each, so that no queue hides the
    /// others.
    ///
    /// - Parameters:
    ///   - queues: The present status of the queues.
    ///   - broker: The broker to read from.
    ///   - most: The largest number of failures to return.
    /// - Returns: The latest failures, oldest first.
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
            // Jobs that failed last are mostly due last.
            let from = max(0, (retrying[queue] ?? 0) - each)
            let retrying = try await broker.jobs(in: .retrying, on: queue, from: from, count: each).jobs
            return (dead + retrying).compactMap { JobEvent(line: $0.lastEvent) }
        }
        let sorted = events.values.flatMap(\.value).sorted { $0.atMilliseconds ?? 0 < $1.atMilliseconds ?? 0 }
        return Array(sorted.suffix(most))
    }
}

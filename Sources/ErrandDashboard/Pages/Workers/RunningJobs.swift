import Errand
import ErrandOperator

/// Some of the jobs that workers are running now, by session.
///
/// There may be thousands of workers with thousands of jobs each, so it reads a bounded number from a bounded number of
/// queues.
struct RunningJobs: Sendable {
    private static let mostQueues = 50
    private static let mostOfAQueue = 250
    private static let mostOfAWorker = 5

    private(set) var jobs: [String: [JobSummary]] = [:]

    init(of overview: Overview, on broker: any ConsoleBroker) async throws(BrokerError) {
        let busy = overview.queues.filter { $0.running > 0 }.prefix(Self.mostQueues).map(\.name)
        let read = try await busy.readingEach { queue throws(BrokerError) in
            try await broker.jobs(in: .running, on: queue, from: 0, count: Self.mostOfAQueue).jobs
        }
        for (queue, records) in read.values {
            for job in records.map({ JobSummary($0, in: queue) }) {
                guard let worker = job.worker else { continue }
                jobs[worker, default: []].append(job)
            }
        }
        // Those that have run for longest matter most.
        for (worker, found) in jobs {
            let sorted = found.sorted { ($0.record.claimedAt ?? .max) < ($1.record.claimedAt ?? .max) }
            jobs[worker] = Array(sorted.prefix(Self.mostOfAWorker))
        }
    }
}

import Errand
import ErrandRedis

/// Reads the jobs of a queue page by page, so that no list is too long to look at.
struct JobPages {
    /// What is listed when nothing else is asked for.
    static let unfinished: [JobState] = [.running, .ready, .scheduled, .retrying, .deferred, .dead]
    /// Jobs of a page; with bodies of 1 MiB each, a page is large enough.
    private static let pageSize = 50

    let broker: RedisBroker
    let states: [JobState]

    /// Gives each job to `take` until that answers `false`.
    func read(_ queue: String, _ take: (JobSummary) -> Bool) async throws(BrokerError) {
        for state in states {
            guard try await read(queue, state, take) else { return }
        }
    }

    private func read(
        _ queue: String,
        _ state: JobState,
        _ take: (JobSummary) -> Bool
    ) async throws(BrokerError) -> Bool {
        var cursor: Int? = 0
        while let from = cursor {
            let page = try await broker.jobs(in: state, on: queue, from: from, count: Self.pageSize)
            for record in page.jobs where !take(JobSummary(record, in: queue)) { return false }
            cursor = page.next
        }
        return true
    }
}

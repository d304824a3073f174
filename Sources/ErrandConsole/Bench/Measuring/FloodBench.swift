import Errand
import ErrandCommandLine
import ErrandRedis

/// The measurement of how long the jobs of small tenants wait beside the flood of a large one.
struct FloodBench {
    let stage: BenchStage

    private static let tenants = 99
    /// The number of jobs of each small tenant.
    private static let jobs = 100

    /// Pushes the flood, and then the jobs of the small tenants, into a paused queue, and resumes it. Returns how long the
    /// jobs of the small tenants wait from then on until they are claimed, by the server's clock, in milliseconds.
    ///
    /// - Parameters:
    ///   - flood: The number of jobs of the large tenant.
    ///   - users: The second parts of its groups over which they are spread.
    func waits(flood: Int, users: Int) async throws -> [Double] {
        let queue = stage.queue()
        let total = Self.tenants * Self.jobs
        try await stage.broker.createQueue(queue)
        let settings = QueueSettings(isPaused: true, publishesStarts: true, keptEvents: 10 * total)
        try await stage.broker.configure(queue, settings)
        let push = PushBench(stage: stage)
        if flood > 0 {
            let groups = users == 1 ? ["flood"] : (0..<users).map { "flood/user-\($0)" }
            _ = try await push.bulk(jobs: flood, groups: groups, to: queue)
        }
        // Their jobs have another operation, by which their events are known.
        let small = (0..<Self.tenants).map { "tenant-\($0)" }
        _ = try await push.bulk(jobs: total, operation: BenchOperations.asynchronous, groups: small, to: queue)
        let workers = try await BenchWorkers.start(stage, queues: [queue], processes: stage.workers)
        defer { workers.end() }
        try await stage.broker.configure(queue, QueueSettings(isPaused: false))
        let starts = try await starts(total, on: queue)
        guard let first = starts.first else { return [] }
        return starts.map { Double($0 - first) }
    }

    /// The times at which the first jobs of all, and those of small tenants, were claimed.
    private func starts(_ count: Int, on queue: String) async throws -> [Int64] {
        var (starts, cursor, first) = ([Int64](), EventCursor.oldest, Int64?.none)
        let end = ContinuousClock.now + .seconds(120)
        while starts.count < count {
            let page = try await stage.broker.eventPage(of: queue, after: cursor)
            for event in page.entries.flatMap(\.lines).compactMap(JobEvent.init(line:)) where event.event == "started" {
                guard let time = event.atMilliseconds else { continue }
                first = first ?? time
                if event.operation == BenchOperations.asynchronous { starts.append(time) }
            }
            if let last = page.entries.last?.last { cursor = last } else { try await Task.sleep(for: .milliseconds(5)) }
            guard ContinuousClock.now < end else {
                throw CommandFailure(
                    "only \(starts.count) of \(count) jobs of small tenants started within 2 min",
                    ExitStatus.unsuccessful
                )
            }
        }
        return (first.map { [$0] } ?? []) + starts
    }
}

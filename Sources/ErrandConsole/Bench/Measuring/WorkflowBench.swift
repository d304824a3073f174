import Errand
import ErrandCommandLine
import ErrandRedis

/// The measurement of workflows: how fast their jobs run, and how long the server's longest call takes.
struct WorkflowBench {
    let stage: BenchStage

    /// The result of a measurement.
    struct Result: Sendable {
        /// Jobs that end per second.
        let rate: Double
        /// The longest call in milliseconds; `nil` on a server that others may use.
        let longestCall: Double?
    }

    private typealias Job = WorkflowDescription.Job

    /// The jobs of a workflow of the usual size.
    static let usual = 50
    private static let hub = WorkflowLimits.dependants

    /// The jobs of a large one.
    private var many: Int { min(10_000, stage.jobs) }
    /// The jobs of the largest one.
    private var most: Int { min(WorkflowLimits.members, stage.jobs) }

    /// Many workflows: one job, others side by side after it, and one after all of those.
    func usual() async throws -> Result {
        let queue = stage.queue()
        let middle = try (2..<Self.usual).map { try job("middle-\($0)", on: queue, after: ["first"]) }
        let all = try [job("first", on: queue)] + middle + [job("last", on: queue, after: middle.map(\.key))]
        let flow = try WorkflowDescription("usual", jobs: all)
        return try await run(Array(repeating: flow, count: max(1, stage.jobs / Self.usual)), on: queue)
    }

    /// Many jobs, and one after all of them.
    func join() async throws -> Result {
        let queue = stage.queue()
        let first = try (0..<many).map { try job("\($0)", on: queue) }
        let last = try job("last", on: queue, after: first.map(\.key))
        return try await run([try WorkflowDescription("join", jobs: first + [last])], on: queue)
    }

    /// A job, some after it, and many after those.
    func fork() async throws -> Result {
        let queue = stage.queue()
        return try await run([try fork(of: many, on: queue, BenchOperations.noop)], on: queue)
    }

    /// A workflow whose first job dies and is deleted, so that all others are skipped.
    func death() async throws -> Result {
        let queue = stage.queue()
        let flow = try fork(of: most, on: queue, BenchOperations.failing)
        let workers = try await BenchWorkers.start(stage, queues: [queue], processes: stage.workers)
        defer { workers.end() }
        let calls = try await SlowCalls(stage)
        let receipt = try await stage.producer.push(flow)
        try await stage.await("dead", of: queue, toReach: 1)
        let start = ContinuousClock.now
        _ = try await stage.broker.delete([try receipt.id.job(0)], on: queue)
        try await stage.await("skipped", of: queue, toReach: flow.jobs.count - 1)
        let took = ContinuousClock.now - start
        return Result(rate: took.rate(of: flow.jobs.count), longestCall: try await calls?.longest())
    }

    private func run(_ flows: [WorkflowDescription], on queue: String) async throws -> Result {
        let jobs = flows.reduce(0) { $0 + $1.jobs.count }
        try await stage.broker.createQueue(queue)
        try await stage.broker.configure(queue, QueueSettings(isPaused: true))
        let workers = try await BenchWorkers.start(stage, queues: [queue], processes: stage.workers)
        defer { workers.end() }
        let calls = try await SlowCalls(stage)
        for flow in flows { try await stage.producer.push(flow) }
        let start = ContinuousClock.now
        try await stage.broker.configure(queue, QueueSettings(isPaused: false))
        try await stage.await("finished", of: queue, toReach: jobs)
        return Result(rate: (ContinuousClock.now - start).rate(of: jobs), longestCall: try await calls?.longest())
    }

    /// A job of an operation, and in two steps the others after it.
    private func fork(of count: Int, on queue: String, _ operation: String) throws -> WorkflowDescription {
        let first = try job("first", on: queue, operation)
        let left = count - 1
        let hubs = try (0...(left / Self.hub)).map { try job("hub-\($0)", on: queue, after: [first.key]) }
        let others = try (0..<left - hubs.count).map {
            try job("\($0)", on: queue, after: [hubs[$0 % hubs.count].key])
        }
        return try WorkflowDescription("fork", jobs: [first] + hubs + others)
    }

    private func job(
        _ key: String,
        on queue: String,
        _ operation: String = BenchOperations.noop,
        after: [String] = []
    ) throws -> Job {
        Job(key, try stage.job(operation, on: queue), after: after)
    }
}

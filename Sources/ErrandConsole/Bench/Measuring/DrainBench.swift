import Errand
import ErrandCommandLine
import ErrandRedis

/// The measurement of how fast worker processes claim jobs, run them and report their outcomes.
struct DrainBench {
    let stage: BenchStage

    /// The result of a drain.
    struct Result: Sendable {
        /// Jobs per second.
        var drained = 0.0
        /// Commands of the workers per job.
        var commands = 0.0
        /// Time on the server's processor, in microseconds per job.
        var serverMicroseconds = 0.0
        /// Bytes over the connections in both directions, per job.
        var networkBytes = 0.0
        /// The server's memory per waiting job, in bytes.
        var waitingBytes = 0.0
        /// The largest resident memory of a worker process, in bytes.
        var workerBytes: Int64 = 0
        /// Processor time of all worker processes, including their start, in microseconds per job.
        var workerMicroseconds = 0.0
    }

    /// Pushes jobs into a paused queue, resumes it, and waits until all have finished.
    ///
    /// - Parameters:
    ///   - groups: The number of groups to which the jobs belong in turn; 0 for none.
    ///   - rule: The rule for all of them.
    ///   - idle: Other groups.
    func drain(
        jobs: Int,
        operation: String = BenchOperations.noop,
        groups: Int = 0,
        rule: FlowRule? = nil,
        concurrency: Int? = nil,
        beside idle: IdleGroups? = nil
    ) async throws -> Result {
        let queue = stage.queue()
        var result = Result()
        try await stage.broker.createQueue(queue)
        let finished = try await idle?.make(beside: queue, stage) ?? 0
        try await stage.broker.configure(queue, QueueSettings(isPaused: true))
        if let rule { try await stage.broker.setFlow(queue, matching: "*", rule) }
        let empty = try await stage.settledMemory()
        let names = (0..<groups).map { "group-\($0)" }
        _ = try await PushBench(stage: stage).bulk(jobs: jobs, operation: operation, groups: names, to: queue)
        let full = try await stage.settledMemory()
        result.waitingBytes = Double(full - empty) / Double(jobs)
        let workers = try await BenchWorkers.start(
            stage,
            queues: [queue],
            processes: stage.workers,
            concurrency: concurrency
        )
        defer { workers.end() }
        let before = try await ServerCosts(stage)
        let start = ContinuousClock.now
        try await stage.broker.configure(queue, QueueSettings(isPaused: false))
        try await stage.await("finished", of: queue, toReach: finished + jobs)
        result.drained = (ContinuousClock.now - start).rate(of: jobs)
        let costs = try await ServerCosts(stage) - before
        result.commands = Double(costs.scripts) / Double(jobs)
        result.serverMicroseconds = costs.processorMicroseconds / Double(jobs)
        result.networkBytes = Double(costs.networkBytes) / Double(jobs)
        let usages = try await workers.finish()
        result.workerBytes = usages.map(\.mostResidentBytes).max() ?? 0
        result.workerMicroseconds = Double(usages.reduce(0) { $0 + $1.processorMicroseconds }) / Double(jobs)
        return result
    }

    /// Pushes and drains at the same time; returns the jobs per second from the first push to the last finish.
    func mixed(jobs: Int) async throws -> Double {
        let queue = stage.queue()
        let workers = try await BenchWorkers.start(stage, queues: [queue], processes: stage.workers)
        defer { workers.end() }
        let start = ContinuousClock.now
        _ = try await PushBench(stage: stage).bulk(jobs: jobs, to: queue)
        try await stage.await("finished", of: queue, toReach: jobs)
        return (ContinuousClock.now - start).rate(of: jobs)
    }
}

/// The counters of the work of all servers so far.
struct ServerCosts {
    var scripts = 0
    var processorMicroseconds = 0.0
    var networkBytes = 0
    var commands = 0

    private static let called = [
        "evalsha", "eval", "ping", "hello", "auth", "subscribe", "psubscribe", "client", "script",
    ]

    init(_ stage: BenchStage) async throws {
        for info in try await stage.info() { add(info) }
    }

    private mutating func add(_ info: RedisInfo) {
        let calls = { (name: String) in
            let text = info["cmdstat_\(name)"] ?? ""
            return text.firstRange(of: "calls=").flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) } ?? 0
        }
        scripts += calls("evalsha") + calls("eval")
        // INFO also counts commands that scripts call, but only clients send these.
        commands += Self.called.reduce(0) { $0 + calls($1) }
        let seconds = (Double(info["used_cpu_user"] ?? "") ?? 0) + (Double(info["used_cpu_sys"] ?? "") ?? 0)
        processorMicroseconds += seconds * 1e6
        networkBytes += (info.number("total_net_input_bytes") ?? 0) + (info.number("total_net_output_bytes") ?? 0)
    }

    static func - (later: ServerCosts, earlier: ServerCosts) -> ServerCosts {
        var costs = later
        costs.scripts -= earlier.scripts
        costs.commands -= earlier.commands
        costs.processorMicroseconds -= earlier.processorMicroseconds
        costs.networkBytes -= earlier.networkBytes
        return costs
    }
}

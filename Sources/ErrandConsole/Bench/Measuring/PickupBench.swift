import Errand
import ErrandCommandLine
import ErrandRedis

/// The measurement of idle workers: the latency from the call of `push` to the start of the job, and their costs.
struct PickupBench {
    let stage: BenchStage

    /// The costs of idle workers.
    struct Idle: Sendable {
        /// Commands per second, of one worker and one queue.
        var commandsPerSecond = 0.0
        /// The share of one processor that a worker process uses.
        var processorShare = 0.0
    }

    /// The time after a job in which a worker polls more often than usual.
    private static let calmingDown = Duration.seconds(2)

    /// Returns the latencies of pushes to idle workers, in milliseconds.
    func latencies(processes: Int, sessions: Int) async throws -> [Double] {
        let queue = stage.queue()
        let workers = try await BenchWorkers.start(
            stage,
            queues: [queue],
            processes: processes,
            sessions: sessions,
            concurrency: 4
        )
        defer { workers.end() }
        let job = try stage.job(BenchOperations.pick, on: queue)
        // Warm up the caches first.
        for _ in 0..<20 { _ = try await latency(of: job, by: workers, after: .milliseconds(Int.random(in: 5...25))) }
        var latencies: [Double] = []
        for _ in 0..<stage.probes {
            try await awaitIdle(processes * sessions, on: [queue])
            // Polls are half a second apart by then, so the pause ends at a random point between two of them.
            let pause = Duration.milliseconds(Int.random(in: 600...1100))
            latencies.append(try await latency(of: job, by: workers, after: pause))
        }
        return latencies
    }

    private func latency(
        of job: OperationDescription,
        by workers: BenchWorkers,
        after pause: Duration
    ) async throws -> Double {
        try await Task.sleep(for: pause)
        let start = MonotonicClock.nanoseconds
        let receipt = try await stage.producer.push(job)
        let begun = try await workers.pick(of: receipt.id)
        return Double(begun - start) / 1e6
    }

    /// Measures the costs of an idle worker.
    func idle(for time: Duration) async throws -> Idle {
        let queue = stage.queue()
        let workers = try await BenchWorkers.start(stage, queues: [queue])
        defer { workers.end() }
        let usage = try stage.job(BenchOperations.usage, on: queue)
        _ = try await stage.producer.push(usage)
        let used = try await workers.usage(number: 1)
        let asked = ContinuousClock.now
        try await Task.sleep(for: Self.calmingDown)
        let commands = try await commandsPerSecond(for: time)
        _ = try await stage.producer.push(usage)
        let after = try await workers.usage(number: 2)
        return Idle(
            commandsPerSecond: commands,
            processorShare: Double(after.processorMicroseconds - used.processorMicroseconds) / 1e6
                / ((ContinuousClock.now - asked) / .seconds(1))
        )
    }

    /// Returns the commands per second that worker processes send while their queues are empty.
    func idleCommands(processes: Int, queues count: Int, for time: Duration) async throws -> Double {
        let queues = (0..<count).map { _ in stage.queue() }
        let workers = try await BenchWorkers.start(
            stage,
            queues: queues,
            processes: processes
        )
        defer { workers.end() }
        try await awaitIdle(processes, on: queues)
        try await Task.sleep(for: Self.calmingDown)
        return try await commandsPerSecond(for: time)
    }

    private func commandsPerSecond(for time: Duration) async throws -> Double {
        let before = try await ServerCosts(stage)
        let start = ContinuousClock.now
        try await Task.sleep(for: time)
        let costs = try await ServerCosts(stage) - before
        return Double(costs.commands) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Waits until this number of workers has found each of the queues empty and waits for wake-ups.
    private func awaitIdle(_ workers: Int, on queues: [String]) async throws {
        let end = ContinuousClock.now + .seconds(60)
        for queue in queues {
            while try await idleWorkers(of: queue) < workers {
                guard ContinuousClock.now < end else {
                    throw CommandFailure("the workers of \(queue) did not come to rest", ExitStatus.unsuccessful)
                }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    private func idleWorkers(of queue: String) async throws -> Int {
        let key = KeySpace.key(of: queue) + ":idle"
        return try await stage.broker.command(.command("SMEMBERS", key), for: .queue(queue)).elements?.count ?? 0
    }
}

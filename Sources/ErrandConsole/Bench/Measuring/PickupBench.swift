import Errand
import ErrandCommandLine

/// How soon an idle worker begins a job, from the call of `push` on, and what idle workers cost.
struct PickupBench {
    let stage: BenchStage

    /// What idle workers cost.
    struct Idle: Sendable {
        /// Commands a second, of one worker and one queue.
        var commandsPerSecond = 0.0
        /// The share of one processor that a worker process takes.
        var processorShare = 0.0
    }

    /// The latencies of so many pushes, in milliseconds.
    func latencies(pushes: Int, processes: Int, sessions: Int) async throws -> [Double] {
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
        var latencies: [Double] = []
        for number in 0..<pushes + 20 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...25)))
            let start = MonotonicClock.nanoseconds
            let receipt = try await stage.producer.push(job)
            let begun = try await workers.pick(of: receipt.id)
            // The first ones find nothing in any cache.
            if number >= 20 { latencies.append(Double(begun - start) / 1e6) }
        }
        return latencies
    }

    /// What a worker costs while there is nothing to do.
    func idle(for time: Duration) async throws -> Idle {
        let queue = stage.queue()
        let workers = try await BenchWorkers.start(stage, queues: [queue], concurrency: stage.concurrency)
        defer { workers.end() }
        let usage = try stage.job(BenchOperations.usage, on: queue)
        _ = try await stage.producer.push(usage)
        let used = try await workers.usage(number: 1)
        let asked = ContinuousClock.now
        // After a job it looks for work more often for a while.
        try await Task.sleep(for: .seconds(2))
        let before = try await ServerCosts(stage)
        let start = ContinuousClock.now
        try await Task.sleep(for: time)
        let costs = try await ServerCosts(stage) - before
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        _ = try await stage.producer.push(usage)
        let after = try await workers.usage(number: 2)
        return Idle(
            commandsPerSecond: Double(costs.commands) / seconds,
            processorShare: Double(after.processorMicroseconds - used.processorMicroseconds) / 1e6
                / ((ContinuousClock.now - asked) / .seconds(1))
        )
    }
}

import Errand
import ErrandCommandLine
import ErrandRedis

/// What a job costs as the load grows.
struct GrowthBench {
    let stage: BenchStage
    /// The most jobs that wait at once.
    let most: Int

    /// How many jobs of a longer line are drained: the line stays about as long as it was.
    private static let sample = 50_000
    /// How many jobs have a large body.
    private static let large = 10_000

    /// Takes all points.
    func points() async throws -> [GrowthPoint] {
        let plan = GrowthAxis.allCases.flatMap { axis in axis.values(most: most).map { (axis, $0) } }
        var progress = ProgressBar(total: Int64(plan.count))
        var points: [GrowthPoint] = []
        for (axis, value) in plan {
            progress.update(Int64(points.count), "\(value) \(axis.title)")
            points.append(try await point(axis, value))
            try await stage.tidyUp()
        }
        progress.hide()
        return points
    }

    private func point(_ axis: GrowthAxis, _ value: Int) async throws -> GrowthPoint {
        var load = Load()
        switch axis {
        case .waiting: load.jobs = value
        case .workers: load = Load(jobs: stage.jobs, processes: value)
        case .queues: load = Load(jobs: stage.jobs, queues: value)
        case .bodies: load = Load(jobs: min(stage.jobs, Self.large), bytes: value)
        }
        return try await measure(load, axis, value)
    }

    private struct Load {
        var jobs = 0
        var processes = 1
        var queues = 1
        var bytes = 100
    }

    private func measure(_ load: Load, _ axis: GrowthAxis, _ value: Int) async throws -> GrowthPoint {
        let queues = (0..<load.queues).map { _ in stage.queue() }
        let share = load.jobs / load.queues
        for queue in queues { try await stage.broker.configure(queue, QueueSettings(isPaused: true)) }
        let empty = try await stage.settledMemory()
        let (fill, last) = (max(0, share - share / 5), share / 5)
        for queue in queues { try await push(fill, load.bytes, to: queue) }
        // The last fifth is pushed onto what waits already.
        let start = ContinuousClock.now
        for queue in queues { try await push(last, load.bytes, to: queue) }
        let pushed = (ContinuousClock.now - start) / .microseconds(1) / Double(max(1, last * queues.count))
        let full = try await stage.settledMemory()
        let (drain, server) = try await drain(queues, share, processes: load.processes)
        let bytes = Double(full - empty) / Double(max(1, share * queues.count))
        return GrowthPoint(axis: axis, value: value, push: pushed, drain: drain, server: server, bytes: bytes)
    }

    private func push(_ jobs: Int, _ bytes: Int, to queue: String) async throws {
        guard jobs > 0 else { return }
        _ = try await PushBench(stage: stage).bulk(jobs: jobs, bytes: bytes, to: queue)
    }

    /// Microseconds a job, all in all and of the server's processor, once the workers are at it.
    private func drain(
        _ queues: [String],
        _ share: Int,
        processes: Int
    ) async throws -> (all: Double, server: Double) {
        let workers = try await BenchWorkers.start(
            stage,
            queues: queues,
            processes: processes,
            concurrency: stage.concurrency
        )
        defer { workers.end() }
        let wanted = min(share, Self.sample)
        let head = wanted / 10
        for queue in queues { try await stage.broker.configure(queue, QueueSettings(isPaused: false)) }
        let first = try await finished(queues, atLeast: head * queues.count)
        let before = try await ServerCosts(stage)
        let start = ContinuousClock.now
        let then = try await finished(queues, atLeast: wanted * queues.count)
        let time = (ContinuousClock.now - start) / .microseconds(1)
        let costs = try await ServerCosts(stage) - before
        for queue in queues { try await stage.broker.configure(queue, QueueSettings(isPaused: true)) }
        let jobs = Double(max(1, then - first))
        return (time / jobs, costs.processorMicroseconds / jobs)
    }

    /// How many jobs have finished, once they are so many.
    private func finished(_ queues: [String], atLeast count: Int) async throws -> Int {
        let end = ContinuousClock.now + .seconds(600)
        while true {
            var sum = 0
            for queue in queues { sum += try await stage.total("finished", of: queue) }
            if sum >= count { return sum }
            guard ContinuousClock.now < end else {
                throw CommandFailure("not \(count) jobs were finished within ten minutes", ExitStatus.unsuccessful)
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The measurement of the costs of a job as the load grows.
struct GrowthBench {
    let stage: BenchStage
    let axes: [GrowthAxis]
    /// The largest number of waiting jobs.
    let most: Int
    let runs: BenchRuns

    /// The number of drained jobs, at most half of those that wait, so that the length of the ready list hardly
    /// changes.
    private static let sample = 50_000
    /// Jobs per call, few enough that the shortest lists are pushed in calls of the same size as all others.
    private static let portion = 200
    /// The number of jobs with a large body.
    private static let large = 10_000

    /// Measures all points in rounds, so that slow minutes of the machine affect all of them equally.
    func points() async throws -> [GrowthPoint] {
        var points = axes.flatMap { axis in axis.values(most: most).map { GrowthPoint(axis: axis, value: $0) } }
        let turns = points.map { runs.count(isLong: $0.isLong) }
        let seconds = points.map { self.seconds(of: $0) }
        let all = zip(turns, seconds).flatMap { Array(repeating: $1, count: $0) }
        let progress = BenchProgress(seconds: all, of: "\(points.count.counted("point")) (runs: \(runs))")
        defer { progress.finish() }
        for round in 0..<(turns.max() ?? 0) {
            for index in points.indices where round < turns[index] {
                let words = "\(points[index].value.grouped) \(points[index].axis.title)"
                progress.begin("\(words), run \(round + 1) of \(turns[index])", seconds: seconds[index])
                points[index] = try await measure(points[index])
            }
        }
        return points
    }

    /// Estimates the time of one run of a point, on the machine of docs/performance.md.
    private func seconds(of point: GrowthPoint) -> Double {
        2 + (point.axis.figures.contains(.idle) ? 6 : 0) + Double(load(of: point).jobs) / 50_000
    }

    private struct Load {
        var jobs = 0
        var processes = 1
        var queues = 1
        var bytes = 100
    }

    private func load(of point: GrowthPoint) -> Load {
        switch point.axis {
        case .waiting: Load(jobs: point.value)
        case .workers: Load(jobs: stage.jobs, processes: point.value)
        case .queues: Load(jobs: stage.jobs, queues: point.value)
        case .bodies: Load(jobs: min(stage.jobs, Self.large), bytes: point.value)
        }
    }

    /// Returns the point with one more run.
    private func measure(_ point: GrowthPoint) async throws -> GrowthPoint {
        var point = point
        let load = load(of: point)
        if point.axis.figures.contains(.idle) {
            let bench = PickupBench(stage: stage)
            let commands = try await bench.idleCommands(
                processes: load.processes,
                queues: load.queues,
                for: .seconds(5)
            )
            point.add(commands, to: .idle)
            try await stage.reset()
        }
        try await measure(load, &point)
        try await stage.reset()
        return point
    }

    private func measure(_ load: Load, _ point: inout GrowthPoint) async throws {
        let queues = (0..<load.queues).map { _ in stage.queue() }
        let share = load.jobs / load.queues
        for queue in queues {
            try await stage.broker.createQueue(queue)
            try await stage.broker.configure(queue, QueueSettings(isPaused: true))
        }
        let empty = try await stage.settledMemory()
        let (fill, last) = (max(0, share - share / 5), share / 5)
        for queue in queues { try await push(fill, load.bytes, to: queue) }
        // Measure the last fifth, which is pushed while the other jobs wait already.
        let start = ContinuousClock.now
        for queue in queues { try await push(last, load.bytes, to: queue) }
        let pushed = (ContinuousClock.now - start) / .microseconds(1) / Double(max(1, last * queues.count))
        let full = try await stage.settledMemory()
        let (drain, server) = try await drain(queues, share, processes: load.processes)
        point.add(pushed, to: .push)
        point.add(drain, to: .drain)
        point.add(server, to: .server)
        point.add(Double(full - empty) / Double(max(1, share * queues.count)), to: .bytes)
    }

    private func push(_ jobs: Int, _ bytes: Int, to queue: String) async throws {
        guard jobs > 0 else { return }
        _ = try await PushBench(stage: stage).bulk(jobs: jobs, bytes: bytes, portion: Self.portion, to: queue)
    }

    /// Returns the microseconds per job, in total and of the server's processor, while the workers are busy.
    private func drain(
        _ queues: [String],
        _ share: Int,
        processes: Int
    ) async throws -> (all: Double, server: Double) {
        let workers = try await BenchWorkers.start(
            stage,
            queues: queues,
            processes: processes
        )
        defer { workers.end() }
        let wanted = min(share / 2, Self.sample) * queues.count
        for queue in queues { try await stage.broker.configure(queue, QueueSettings(isPaused: false)) }
        let first = try await look(queues, atLeast: wanted / 10)
        let last = try await look(queues, atLeast: wanted)
        for queue in queues { try await stage.broker.configure(queue, QueueSettings(isPaused: true)) }
        let jobs = Double(max(1, last.finished - first.finished))
        let time = (last.at - first.at) / .microseconds(1)
        return (time / jobs, (last.costs - first.costs).processorMicroseconds / jobs)
    }

    /// The progress at one moment.
    private struct Look {
        let finished: Int
        let at: ContinuousClock.Instant
        let costs: ServerCosts
    }

    /// Waits until this number of jobs has finished. Many queues are polled less often, to leave the server's time to
    /// the jobs.
    private func look(_ queues: [String], atLeast count: Int) async throws -> Look {
        let end = ContinuousClock.now + .seconds(600)
        while true {
            var sum = 0
            for queue in queues { sum += try await stage.total("finished", of: queue) }
            // Read the costs together with the sum, so that both cover the same jobs.
            if sum >= count { return Look(finished: sum, at: .now, costs: try await ServerCosts(stage)) }
            guard ContinuousClock.now < end else {
                throw CommandFailure("not \(count) jobs were finished within ten minutes", ExitStatus.unsuccessful)
            }
            try await Task.sleep(for: .milliseconds(max(2, queues.count / 5)))
        }
    }
}

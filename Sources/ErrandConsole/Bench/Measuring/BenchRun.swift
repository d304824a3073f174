import ErrandCommandLine
import ErrandRedis

/// All measurements, one after the other.
struct BenchRun {
    let stage: BenchStage
    private(set) var figures = BenchFigures()
    private var progress: ProgressBar
    private var done: Int64 = 0

    /// How many pushes a latency is made of.
    private static let pushes = 300
    /// How many measurements a run has.
    private static let steps: Int64 = 12

    init(stage: BenchStage, runs: Int) {
        self.stage = stage
        progress = ProgressBar(total: Self.steps * Int64(runs))
    }

    /// Takes every measurement once; the ceilings stand beside what they are compared with.
    mutating func once() async throws {
        let stage = stage
        let few = max(1000, stage.jobs / 10)
        let (pushes, drains) = (PushBench(stage: stage), DrainBench(stage: stage))
        let (pickups, ceilings) = (PickupBench(stage: stage), CeilingBench(stage: stage))
        try await step("push, the server alone") { figures in
            figures.add(try await ceilings.push(jobs: few, portion: 1), to: .ceilingPushSingle)
            figures.add(try await ceilings.push(jobs: stage.jobs, portion: 50), to: .ceilingPushBatch)
        }
        try await step("push, one by one") { $0.add(try await pushes.awaited(jobs: few), to: .pushAwaited) }
        try await step("push, from 64 tasks") {
            $0.add(try await pushes.concurrent(jobs: stage.jobs), to: .pushConcurrent)
        }
        try await step("claim and finish, the server alone") {
            $0.add(try await ceilings.claimAndFinish(jobs: stage.jobs), to: .ceilingClaimFinish)
        }
        try await step("drain") { $0.add(try await drains.drain(jobs: stage.jobs)) }
        try await step("drain, asynchronous") {
            let result = try await drains.drain(jobs: stage.jobs, operation: BenchOperations.asynchronous)
            $0.add(result.drained, to: .drainAsynchronous)
        }
        try await step("drain, child processes") {
            let jobs = max(200, stage.jobs / 200)
            $0.add(try await drains.drain(jobs: jobs, operation: BenchOperations.child).drained, to: .drainChildren)
        }
        try await step("push and drain at once") { $0.add(try await drains.mixed(jobs: stage.jobs), to: .mixed) }
        try await step("unique pushes") {
            let rates = try await pushes.unique(jobs: stage.jobs / 2)
            $0.add(rates.new, to: .uniqueNew)
            $0.add(rates.drop, to: .uniqueDrop)
            $0.add(rates.replace, to: .uniqueReplace)
        }
        try await step("pick-up by one idle worker") {
            let latencies = try await pickups.latencies(pushes: Self.pushes, processes: 1, sessions: 1)
            $0.add(latencies, to: [.pickup50, .pickup95, .pickup99, .pickupMost])
        }
        try await step("pick-up by 200 idle workers") {
            let latencies = try await pickups.latencies(pushes: Self.pushes, processes: 4, sessions: 50)
            $0.add(latencies, to: [.pickup200Idle50, .pickup200Idle95, .pickup200Idle99, .pickup200IdleMost])
        }
        try await step("an idle worker") {
            let idle = try await pickups.idle(for: .seconds(10))
            $0.add(idle.commandsPerSecond, to: .idleCommandsPerSecond)
            $0.add(idle.processorShare, to: .idleProcessorShare)
        }
        progress.hide()
    }

    private mutating func step(
        _ what: String,
        _ measure: (inout BenchFigures) async throws -> Void
    ) async throws {
        progress.update(done, what)
        try await measure(&figures)
        done += 1
    }
}

extension BenchFigures {
    fileprivate mutating func add(_ drain: DrainBench.Result) {
        add(drain.pushed, to: .pushBulk)
        add(drain.drained, to: .drain)
        add(drain.commands, to: .commandsPerJob)
        add(drain.serverMicroseconds, to: .serverMicrosecondsPerJob)
        add(drain.networkBytes, to: .networkBytesPerJob)
        add(drain.waitingBytes, to: .bytesPerWaitingJob)
        add(Double(drain.workerBytes), to: .workerBytes)
    }
}

import ArgumentParser

/// One measurement of the benchmark: its part, its title and the code that takes it.
struct BenchMeasurement: Sendable {
    /// A part of the benchmark that can be run alone.
    enum Part: String, CaseIterable, ExpressibleByArgument, Sendable {
        case push, drain, memory, mixed, unique, pickup, idle
    }

    let part: Part
    let title: String
    /// Whether it measures the server alone.
    var isCeiling = false
    /// Whether it takes so long that one run is the default.
    var isLong = false
    let take: @Sendable (_ stage: BenchStage, _ figures: inout BenchFigures) async throws -> Void

    /// All measurements, each ceiling next to the measurement to compare with it.
    static let all: [BenchMeasurement] = pushing + draining + waiting

    private static let pushing = [
        BenchMeasurement(part: .push, title: "push, the server alone", isCeiling: true) { stage, figures in
            let ceiling = CeilingBench(stage: stage)
            figures.add(try await ceiling.pushOneByOne(jobs: stage.fewJobs), to: .ceilingPushSingle)
            try await stage.reset()
            let rates = try await ceiling.pushBatches(jobs: stage.jobs)
            figures.add(rates.highest, to: .ceilingPushBatch)
            figures.add(rates.oneCall, to: .ceilingPushBatchOneCall)
        },
        BenchMeasurement(part: .push, title: "push, one by one") { stage, figures in
            figures.add(try await PushBench(stage: stage).awaited(jobs: stage.fewJobs), to: .pushAwaited)
        },
        BenchMeasurement(part: .push, title: "push, from \(PushBench.tasks) tasks") { stage, figures in
            figures.add(try await PushBench(stage: stage).concurrent(jobs: stage.jobs), to: .pushConcurrent)
        },
        BenchMeasurement(part: .push, title: "push, many a call") { stage, figures in
            figures.add(try await PushBench(stage: stage).bulk(jobs: stage.jobs, to: stage.queue()), to: .pushBulk)
        },
        BenchMeasurement(part: .unique, title: "unique pushes") { stage, figures in
            let rates = try await PushBench(stage: stage).unique(jobs: stage.jobs / 2)
            figures.add(rates.new, to: .uniqueNew)
            figures.add(rates.drop, to: .uniqueDrop)
            figures.add(rates.replace, to: .uniqueReplace)
        },
    ]

    private static let draining = [
        BenchMeasurement(part: .drain, title: "claim and finish, the server alone", isCeiling: true) { stage, figures in
            let rates = try await CeilingBench(stage: stage).claimAndFinish(jobs: stage.jobs)
            figures.add(rates.highest, to: .ceilingClaimFinish)
            figures.add(rates.oneCall, to: .ceilingClaimFinishOneCall)
        },
        BenchMeasurement(part: .drain, title: "drain") { stage, figures in
            let drain = try await DrainBench(stage: stage).drain(jobs: stage.jobs)
            figures.add(drain.drained, to: .drain)
            figures.add(drain.commands, to: .commandsPerJob)
            figures.add(drain.serverMicroseconds, to: .serverMicrosecondsPerJob)
            figures.add(drain.networkBytes, to: .networkBytesPerJob)
            figures.add(drain.waitingBytes, to: .bytesPerWaitingJob)
            figures.add(Double(drain.workerBytes), to: .workerBytes)
            figures.add(drain.workerMicroseconds, to: .workerMicrosecondsPerJob)
        },
        BenchMeasurement(part: .drain, title: "drain, asynchronous") { stage, figures in
            let bench = DrainBench(stage: stage)
            let drain = try await bench.drain(jobs: stage.jobs, operation: BenchOperations.asynchronous)
            figures.add(drain.drained, to: .drainAsynchronous)
        },
        BenchMeasurement(part: .drain, title: "drain, child processes") { stage, figures in
            let jobs = max(200, stage.jobs / 200)
            let drain = try await DrainBench(stage: stage).drain(jobs: jobs, operation: BenchOperations.child)
            figures.add(drain.drained, to: .drainChildren)
        },
        BenchMeasurement(part: .memory, title: "a long drain", isLong: true) { stage, figures in
            let drain = try await DrainBench(stage: stage).drain(jobs: stage.manyJobs)
            figures.add(drain.drained, to: .longDrain)
            figures.add(Double(drain.workerBytes), to: .longDrainWorkerBytes)
        },
        BenchMeasurement(part: .mixed, title: "push and drain at once") { stage, figures in
            figures.add(try await DrainBench(stage: stage).mixed(jobs: stage.jobs), to: .mixed)
        },
    ]

    private static let waiting = [
        BenchMeasurement(part: .pickup, title: "pick-up by one idle worker") { stage, figures in
            let latencies = try await PickupBench(stage: stage).latencies(processes: 1, sessions: 1)
            figures.add(latencies, to: [.pickup50, .pickup95, .pickup99, .pickupMost])
        },
        BenchMeasurement(part: .pickup, title: "pick-up by 200 idle workers") { stage, figures in
            let latencies = try await PickupBench(stage: stage).latencies(processes: 4, sessions: 50)
            figures.add(
                latencies,
                to: [.pickup200Idle50, .pickup200Idle95, .pickup200Idle99, .pickup200IdleMost]
            )
        },
        BenchMeasurement(part: .idle, title: "an idle worker") { stage, figures in
            let idle = try await PickupBench(stage: stage).idle(for: .seconds(10))
            figures.add(idle.commandsPerSecond, to: .idleCommandsPerSecond)
            figures.add(idle.processorShare, to: .idleProcessorShare)
        },
    ]
}

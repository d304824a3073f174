import ArgumentParser
import Errand
import ErrandCatalogue

/// One measurement of the benchmark: its part, its title and the code that takes it.
struct BenchMeasurement: Sendable {
    /// A part of the benchmark that can be run alone.
    enum Part: String, CaseIterable, ExpressibleByArgument, Sendable {
        case push, drain, groups, limits, workflows, memory, mixed, unique, pickup, idle
    }

    let part: Part
    let title: String
    /// Whether it measures the server alone.
    var isCeiling = false
    /// Whether it takes so long that one run is the default.
    var isLong = false
    /// How long it takes on the machine of docs/performance.md, to estimate the time of a benchmark.
    let seconds: @Sendable (_ stage: BenchStage) -> Double
    let take: @Sendable (_ stage: BenchStage, _ figures: inout BenchFigures) async throws -> Void

    /// All measurements, each ceiling next to the measurement to compare with it.
    static let all: [BenchMeasurement] = pushing + draining + grouped + workflows + waiting

    private static let pushing = [
        BenchMeasurement(
            part: .push,
            title: "push, the server alone",
            isCeiling: true,
            seconds: { $0.seconds(few: 1, jobs: 3) }
        ) { stage, figures in
            let ceiling = CeilingBench(stage: stage)
            figures.add(try await ceiling.pushOneByOne(jobs: stage.fewJobs), to: .ceilingPushSingle)
            try await stage.reset()
            let rates = try await ceiling.pushBatches(jobs: stage.jobs)
            figures.add(rates.highest, to: .ceilingPushBatch)
            figures.add(rates.oneCall, to: .ceilingPushBatchOneCall)
        },
        BenchMeasurement(part: .push, title: "push, one by one", seconds: { $0.seconds(few: 1) }) { stage, figures in
            figures.add(try await PushBench(stage: stage).awaited(jobs: stage.fewJobs), to: .pushAwaited)
        },
        BenchMeasurement(part: .push, title: "push, from \(PushBench.tasks) tasks", seconds: { $0.seconds(jobs: 2) }) {
            stage,
            figures in
            figures.add(try await PushBench(stage: stage).concurrent(jobs: stage.jobs), to: .pushConcurrent)
        },
        BenchMeasurement(part: .push, title: "push, many a call", seconds: { $0.seconds(jobs: 1) }) { stage, figures in
            figures.add(try await PushBench(stage: stage).bulk(jobs: stage.jobs, to: stage.queue()), to: .pushBulk)
        },
        BenchMeasurement(part: .unique, title: "unique pushes", seconds: { $0.seconds(jobs: 5) }) { stage, figures in
            let rates = try await PushBench(stage: stage).unique(jobs: stage.jobs / 2)
            figures.add(rates.new, to: .uniqueNew)
            figures.add(rates.drop, to: .uniqueDrop)
            figures.add(rates.replace, to: .uniqueReplace)
        },
    ]

    private static let draining = [
        BenchMeasurement(
            part: .drain,
            title: "claim and finish, the server alone",
            isCeiling: true,
            seconds: { $0.seconds(jobs: 4) }
        ) { stage, figures in
            let rates = try await CeilingBench(stage: stage).claimAndFinish(jobs: stage.jobs)
            figures.add(rates.highest, to: .ceilingClaimFinish)
            figures.add(rates.oneCall, to: .ceilingClaimFinishOneCall)
        },
        BenchMeasurement(part: .drain, title: "drain", seconds: { $0.seconds(jobs: 3) }) { stage, figures in
            let drain = try await DrainBench(stage: stage).drain(jobs: stage.jobs)
            figures.add(drain.drained, to: .drain)
            figures.add(drain.commands, to: .commandsPerJob)
            figures.add(drain.serverMicroseconds, to: .serverMicrosecondsPerJob)
            figures.add(drain.networkBytes, to: .networkBytesPerJob)
            figures.add(drain.waitingBytes, to: .bytesPerWaitingJob)
            figures.add(Double(drain.workerBytes), to: .workerBytes)
            figures.add(drain.workerMicroseconds, to: .workerMicrosecondsPerJob)
        },
        BenchMeasurement(part: .drain, title: "drain, asynchronous", seconds: { $0.seconds(jobs: 3) }) {
            stage,
            figures in
            let bench = DrainBench(stage: stage)
            let drain = try await bench.drain(jobs: stage.jobs, operation: BenchOperations.asynchronous)
            figures.add(drain.drained, to: .drainAsynchronous)
        },
        BenchMeasurement(part: .drain, title: "drain, child processes", seconds: { $0.seconds(jobs: 1) }) {
            stage,
            figures in
            let jobs = max(200, stage.jobs / 200)
            let drain = try await DrainBench(stage: stage).drain(jobs: jobs, operation: BenchOperations.child)
            figures.add(drain.drained, to: .drainChildren)
        },
        BenchMeasurement(part: .drain, title: "drain, long-lived children", seconds: { $0.seconds(jobs: 3) }) {
            stage,
            figures in
            // Without Python there is no such figure.
            guard case .exited(0) = await ChildProcesses.shared.run(ChildCommand(["python3", "--version"])).ending
            else { return }
            let drain = try await DrainBench(stage: stage).drain(
                jobs: stage.jobs,
                operation: BenchOperations.served,
                concurrency: max(stage.concurrency, BenchOperations.slotsForChildren)
            )
            figures.add(drain.drained, to: .drainServed)
        },
        BenchMeasurement(part: .memory, title: "a long drain", isLong: true, seconds: { $0.seconds(jobs: 20) }) {
            stage,
            figures in
            let drain = try await DrainBench(stage: stage).drain(jobs: stage.manyJobs)
            figures.add(drain.drained, to: .longDrain)
            figures.add(Double(drain.workerBytes), to: .longDrainWorkerBytes)
        },
        BenchMeasurement(part: .mixed, title: "push and drain at once", seconds: { $0.seconds(jobs: 3) }) {
            stage,
            figures in
            figures.add(try await DrainBench(stage: stage).mixed(jobs: stage.jobs), to: .mixed)
        },
    ]

    private static let grouped = [
        BenchMeasurement(part: .groups, title: "drain, 10 groups", seconds: { $0.seconds(jobs: 4) }) { stage, figures in
            figures.add(
                try await DrainBench(stage: stage).drain(jobs: stage.jobs, groups: 10).drained,
                to: .drainFewGroups
            )
        },
        BenchMeasurement(part: .groups, title: "drain, 10,000 groups", seconds: { $0.seconds(jobs: 4) }) {
            stage,
            figures in
            let drain = try await DrainBench(stage: stage).drain(jobs: stage.jobs, groups: 10_000)
            figures.add(drain.drained, to: .drainManyGroups)
            figures.add(drain.serverMicroseconds, to: .serverMicrosecondsPerGroupedJob)
        },
        BenchMeasurement(part: .limits, title: "drain, 1,000 groups, one at once", seconds: { $0.seconds(jobs: 5) }) {
            stage,
            figures in
            let rule = FlowRule(atOnce: 1)
            let drain = try await DrainBench(stage: stage).drain(jobs: stage.jobs, groups: 1000, rule: rule)
            figures.add(drain.drained, to: .drainLimitedGroups)
        },
        beside("another rests", .drainBesideOneRestingGroup) { _ in .resting(1) },
        beside("up to 100,000 rest", .drainBesideRestingGroups) { .resting($0) },
        beside("up to 100,000 are full", .drainBesideFullGroups) { .full($0) },
        beside("up to 100,000 rest in another queue", .drainBesideAnotherQueue) { .restingElsewhere($0) },
        flood("99 small tenants", of: 0, users: 1, .waitWithoutFlood99),
        flood("99 small tenants beside a flood", of: 10, users: 1, .waitBesideFlood99),
        flood("99 small tenants beside a flood of 10,000 users", of: 10, users: 10_000, .waitBesideManyUsers99),
    ]

    /// The drain of ten groups beside others of which none may start a job: as many as jobs, but at most 100,000.
    private static func beside(
        _ title: String,
        _ kind: BenchFigures.Kind,
        _ idle: @escaping @Sendable (_ count: Int) -> IdleGroups
    ) -> BenchMeasurement {
        BenchMeasurement(part: .limits, title: "drain, 10 groups, \(title)", seconds: { 5 + $0.seconds(jobs: 4) }) {
            stage,
            figures in
            let drain = try await DrainBench(stage: stage).drain(
                jobs: stage.jobs,
                groups: 10,
                beside: idle(min(stage.jobs, 100_000))
            )
            figures.add(drain.drained, to: kind)
        }
    }

    /// The waits of small tenants beside a flood of so many times the number of jobs.
    private static func flood(
        _ title: String,
        of times: Int,
        users: Int,
        _ kind: BenchFigures.Kind
    ) -> BenchMeasurement {
        BenchMeasurement(part: .groups, title: title, seconds: { $0.seconds(jobs: 2 * Double(times) + 1) }) {
            stage,
            figures in
            let waits = try await FloodBench(stage: stage).waits(flood: times * stage.jobs, users: users)
            figures.addHighPercentile(of: waits, to: kind)
        }
    }

    private static let workflows = [
        workflow(
            "workflows of \(WorkflowBench.usual) jobs",
            seconds: { $0.seconds(jobs: 8) },
            .workflowUsual,
            .workflowUsualCall
        ) {
            try await $0.usual()
        },
        workflow("up to 10,000 jobs and one after all", .workflowJoin, .workflowJoinCall) {
            try await $0.join()
        },
        workflow("up to 10,000 jobs after ten", .workflowFork, .workflowForkCall) {
            try await $0.fork()
        },
        workflow(
            "up to 100,000 jobs after a dead one",
            seconds: { _ in 15 },
            .workflowDeath,
            .workflowDeathCall
        ) {
            try await $0.death()
        },
    ]

    private static func workflow(
        _ title: String,
        seconds: @escaping @Sendable (BenchStage) -> Double = { _ in 3 },
        _ rate: BenchFigures.Kind,
        _ longest: BenchFigures.Kind,
        measure: @escaping @Sendable (WorkflowBench) async throws -> WorkflowBench.Result
    ) -> BenchMeasurement {
        BenchMeasurement(part: .workflows, title: title, seconds: seconds) { stage, figures in
            let result = try await measure(WorkflowBench(stage: stage))
            figures.add(result.rate, to: rate)
            if let call = result.longestCall { figures.add(call, to: longest) }
        }
    }

    private static let waiting = [
        BenchMeasurement(part: .pickup, title: "pick-up by one idle worker", seconds: { $0.seconds(probes: 1) }) {
            stage,
            figures in
            let latencies = try await PickupBench(stage: stage).latencies(processes: 1, sessions: 1)
            figures.add(latencies, to: [.pickup50, .pickup95, .pickup99, .pickupMost])
        },
        BenchMeasurement(part: .pickup, title: "pick-up by 200 idle workers", seconds: { $0.seconds(probes: 1) }) {
            stage,
            figures in
            let latencies = try await PickupBench(stage: stage).latencies(processes: 4, sessions: 50)
            figures.add(
                latencies,
                to: [.pickup200Idle50, .pickup200Idle95, .pickup200Idle99, .pickup200IdleMost]
            )
        },
        BenchMeasurement(part: .idle, title: "an idle worker", seconds: { $0.seconds() + 10 }) { stage, figures in
            let idle = try await PickupBench(stage: stage).idle(for: .seconds(10))
            figures.add(idle.commandsPerSecond, to: .idleCommandsPerSecond)
            figures.add(idle.processorShare, to: .idleProcessorShare)
        },
    ]
}

extension BenchStage {
    /// Estimates the seconds of a measurement.
    ///
    /// - Parameters:
    ///   - few: How often it takes the time of pushing ``fewJobs`` one by one.
    ///   - jobs: How often it takes the time of pushing or draining ``jobs`` in calls of many.
    ///   - probes: How often it makes ``probes``, about one a second.
    fileprivate func seconds(few: Double = 0, jobs: Double = 0, probes: Double = 0) -> Double {
        1 + few * Double(fewJobs) / 5_000 + jobs * Double(self.jobs) / 100_000 + probes * Double(self.probes)
    }
}

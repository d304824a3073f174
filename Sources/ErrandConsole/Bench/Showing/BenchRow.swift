import Foundation

/// A row of the table: its title, its figure, and the ceiling to compare it with.
struct BenchRow {
    let title: String
    let kind: BenchFigures.Kind
    let unit: Unit
    var ceiling: BenchFigures.Kind?

    init(_ title: String, _ kind: BenchFigures.Kind, _ unit: Unit, of ceiling: BenchFigures.Kind? = nil) {
        self.title = title
        self.kind = kind
        self.unit = unit
        self.ceiling = ceiling
    }

    /// The unit of a figure.
    enum Unit {
        case rate, milliseconds, number, bytes, megabytes, percent

        func text(_ value: Double) -> String {
            switch self {
            case .rate: String(format: "%.0f/s", value)
            case .milliseconds: String(format: "%.2f ms", value)
            case .number: String(format: "%.3f", value)
            case .bytes: String(format: "%.0f B", value)
            case .megabytes: String(format: "%.1f MB", value / 1e6)
            case .percent: String(format: "%.2f %%", value * 100)
            }
        }
    }

    /// All rows, in order.
    static let all: [BenchRow] = throughput + latency + costs

    private static let throughput = [
        BenchRow("server alone: push, one job a call", .ceilingPushSingle, .rate),
        BenchRow("server alone: push, 50 jobs a call", .ceilingPushBatch, .rate),
        BenchRow("the same, one call at a time", .ceilingPushBatchOneCall, .rate),
        BenchRow("server alone: claim + finish, 50 jobs a call", .ceilingClaimFinish, .rate),
        BenchRow("the same, one call at a time", .ceilingClaimFinishOneCall, .rate),
        BenchRow("push, awaited one by one", .pushAwaited, .rate, of: .ceilingPushSingle),
        BenchRow("push, from \(PushBench.tasks) tasks at once", .pushConcurrent, .rate, of: .ceilingPushBatch),
        BenchRow("push, \(PushBench.portion) a call", .pushBulk, .rate, of: .ceilingPushBatch),
        BenchRow("drain, handlers that do nothing", .drain, .rate, of: .ceilingClaimFinish),
        BenchRow("drain, async handlers", .drainAsynchronous, .rate, of: .ceilingClaimFinish),
        BenchRow("drain, child processes", .drainChildren, .rate),
        BenchRow("drain, \(BenchOperations.children) long-lived children in Python", .drainServed, .rate),
        BenchRow("drain, 10 groups", .drainFewGroups, .rate, of: .ceilingClaimFinish),
        BenchRow("drain, 10,000 groups", .drainManyGroups, .rate, of: .ceilingClaimFinish),
        BenchRow("drain, 1,000 groups, one job of each at once", .drainLimitedGroups, .rate, of: .ceilingClaimFinish),
        BenchRow(
            "drain, 10 groups, while another one rests",
            .drainBesideOneRestingGroup,
            .rate,
            of: .ceilingClaimFinish
        ),
        BenchRow(
            "drain, 10 groups, while up to 100,000 others rest",
            .drainBesideRestingGroups,
            .rate,
            of: .ceilingClaimFinish
        ),
        BenchRow(
            "drain, 10 groups, while up to 100,000 others are full",
            .drainBesideFullGroups,
            .rate,
            of: .ceilingClaimFinish
        ),
        BenchRow(
            "drain, 10 groups, while up to 100,000 rest in another queue",
            .drainBesideAnotherQueue,
            .rate,
            of: .ceilingClaimFinish
        ),
        BenchRow("drain, workflows of \(WorkflowBench.usual) jobs", .workflowUsual, .rate, of: .ceilingClaimFinish),
        BenchRow(
            "drain, up to 10,000 jobs and one after all",
            .workflowJoin,
            .rate,
            of: .ceilingClaimFinish
        ),
        BenchRow("drain, up to 10,000 jobs after ten", .workflowFork, .rate, of: .ceilingClaimFinish),
        BenchRow("skip, up to 100,000 jobs after a dead one", .workflowDeath, .rate),
        BenchRow("drain of ten times as many jobs", .longDrain, .rate, of: .ceilingClaimFinish),
        BenchRow("push and drain at once", .mixed, .rate),
        BenchRow("unique push, all new", .uniqueNew, .rate, of: .ceilingPushBatch),
        BenchRow("unique push, all duplicates", .uniqueDrop, .rate, of: .ceilingPushBatch),
        BenchRow("unique push, all replaced", .uniqueReplace, .rate, of: .ceilingPushBatch),
    ]

    private static let latency = [
        BenchRow("longest call, workflows of \(WorkflowBench.usual) jobs", .workflowUsualCall, .milliseconds),
        BenchRow("the same, up to 10,000 jobs and one after all", .workflowJoinCall, .milliseconds),
        BenchRow("the same, up to 10,000 jobs after ten", .workflowForkCall, .milliseconds),
        BenchRow("the same, up to 100,000 jobs after a dead one", .workflowDeathCall, .milliseconds),
        BenchRow("wait of 99 small tenants, 99 of 100", .waitWithoutFlood99, .milliseconds),
        BenchRow("the same beside ten times --jobs of another one", .waitBesideFlood99, .milliseconds),
        BenchRow("the same, spread over 10,000 users", .waitBesideManyUsers99, .milliseconds),
        BenchRow("pick-up by one idle worker, median", .pickup50, .milliseconds),
        BenchRow("pick-up, 95 of 100", .pickup95, .milliseconds),
        BenchRow("pick-up, 99 of 100", .pickup99, .milliseconds),
        BenchRow("pick-up, slowest of all runs", .pickupMost, .milliseconds),
        BenchRow("pick-up by 200 idle workers, median", .pickup200Idle50, .milliseconds),
        BenchRow("pick-up, 95 of 100", .pickup200Idle95, .milliseconds),
        BenchRow("pick-up, 99 of 100", .pickup200Idle99, .milliseconds),
        BenchRow("pick-up, slowest of all runs", .pickup200IdleMost, .milliseconds),
    ]

    private static let costs = [
        BenchRow("commands a job in a drain", .commandsPerJob, .number),
        BenchRow("server's processor a job in a drain, µs", .serverMicrosecondsPerJob, .number),
        BenchRow("the same with 10,000 groups, µs", .serverMicrosecondsPerGroupedJob, .number),
        BenchRow("worker's processor a job in a drain, µs", .workerMicrosecondsPerJob, .number),
        BenchRow("bytes over the network a job in a drain", .networkBytesPerJob, .bytes),
        BenchRow("Redis memory a waiting job", .bytesPerWaitingJob, .bytes),
        BenchRow("memory of the worker in a drain", .workerBytes, .megabytes),
        BenchRow("memory of the worker in a drain of ten times as many", .longDrainWorkerBytes, .megabytes),
        BenchRow("commands a second of an idle worker", .idleCommandsPerSecond, .number),
        BenchRow("processor of an idle worker", .idleProcessorShare, .percent),
    ]
}

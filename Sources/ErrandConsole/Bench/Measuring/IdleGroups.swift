import Errand
import ErrandCommandLine
import ErrandRedis

/// Groups of whose waiting jobs none may start, in whose company a drain is measured.
enum IdleGroups {
    /// Groups that rest, because their rate lets no job start for a day.
    case resting(Int)
    /// Groups that are full: a job of each holds its only slot.
    case full(Int)
    /// Groups that rest in another queue of the server, and one in this queue, so that only the server's data is larger.
    case restingElsewhere(Int)

    /// Makes them.
    ///
    /// - Parameter queue: The queue that is then drained.
    /// - Returns: The number of its jobs that have finished.
    func make(beside queue: String, _ stage: BenchStage) async throws -> Int {
        switch self {
        case .resting(let count):
            try await Self.rest(count, on: queue, stage)
            return count
        case .restingElsewhere(let count):
            let other = stage.queue()
            try await stage.broker.createQueue(other)
            try await Self.rest(count, on: other, stage)
            try await Self.rest(1, on: queue, stage)
            return 1
        case .full(let count):
            try await Self.fill(count, on: queue, stage)
            return 0
        }
    }

    /// Pushes two jobs for each group. The first one of each uses up its rate.
    private static func rest(_ count: Int, on queue: String, _ stage: BenchStage) async throws {
        let rule = FlowRule(rate: FlowRate(1, per: .seconds(86_400)))
        try await push(count, rule, to: queue, stage)
        let workers = try await BenchWorkers.start(stage, queues: [queue], processes: stage.workers)
        defer { workers.end() }
        try await stage.await("finished", of: queue, toReach: count)
        _ = try await workers.finish()
    }

    /// Pushes two jobs for each group. A session that lives as long as the measurement claims the first one of each.
    private static func fill(_ count: Int, on queue: String, _ stage: BenchStage) async throws {
        try await push(count, FlowRule(atOnce: 1), to: queue, stage)
        let session = try await stage.register(on: queue)
        var (held, call) = (0, 0)
        while held < count {
            call += 1
            let exchange = Exchange(
                session: session,
                call: call,
                reports: [],
                wanted: PushBench.portion,
                freeSlots: PushBench.portion,
                begun: 0,
                longestWait: .seconds(3600),
                stopGrace: .zero
            )
            let claims = try await stage.broker.exchange(exchange, on: queue).claims.count
            guard claims > 0 else {
                throw CommandFailure("only \(held) of \(count) groups became full", ExitStatus.unsuccessful)
            }
            held += claims
        }
    }

    private static func push(_ count: Int, _ rule: FlowRule, to queue: String, _ stage: BenchStage) async throws {
        try await stage.broker.setFlow(queue, matching: "idle-*", rule)
        let names = (0..<count).map { "idle-\($0)" }
        _ = try await PushBench(stage: stage).bulk(jobs: 2 * count, groups: names, to: queue)
    }
}

import Errand
import ErrandRedis
import TestSupport

/// Storms that are too large for the server's log, so the fate of each job must follow from its receipt.
extension Scenario {
    static let mixedStorms = [
        Scenario(
            "F72f",
            "a hundred producers drop and replace jobs of a few names while workers are killed",
            mixedStorm
        )
    ]

    private static let names = (1...4).map { "name \($0)" }

    private static func mixedStorm(_ context: ScenarioContext) async throws {
        let server = try context.server()
        // The first ended ids must still be remembered at the end.
        try await context.console.createQueue(ScenarioContext.queue)
        try await context.console.configure(ScenarioContext.queue, QueueSettings(rememberIDsMilliseconds: 3_600_000))
        let workers = try await WorkerGroup(context, 3)
        let producers = try (0..<100).map { _ in try context.connect(server.url) }
        let seconds = context.size(quick: 5, full: 60)
        async let raging = rage(context, producers, for: .seconds(seconds))
        for _ in 0..<seconds {
            try await Task.sleep(for: .seconds(1))
            await workers.killOne()
        }
        var pushes = try await raging
        // Nothing is pushed after these, so each of them must run.
        for name in names { pushes.append(try await push(context, name, .replace, ends: true, via: producers[0])) }
        let last = pushes.suffix(names.count).map(\.id)
        try await context.recovers("the last job of each name runs", within: .seconds(20)) {
            last.allSatisfy { context.ledger.ended[$0] != nil }
        }
        try await context.drain()
        await workers.dismiss()
        context.injected(try await context.totals()["recovered"], or: "no kill reached a job")
        try await judge(context, pushes)
    }

    /// Each producer pushes about ten jobs a second, one after the other.
    private static func rage(
        _ context: ScenarioContext,
        _ producers: [RedisBroker],
        for time: Duration
    ) async throws -> [NamedPush] {
        let until = ContinuousClock.now + time
        return try await withThrowingTaskGroup(of: [NamedPush].self) { group in
            for broker in producers {
                group.addTask {
                    var pushes: [NamedPush] = []
                    while ContinuousClock.now < until {
                        let policy: UniquenessPolicy = context.pick([.drop, .replace])
                        pushes.append(try await push(context, context.pick(names), policy, ends: false, via: broker))
                        try await Task.sleep(for: .milliseconds(context.random(20...180)))
                    }
                    return pushes
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static func push(
        _ context: ScenarioContext,
        _ name: String,
        _ policy: UniquenessPolicy,
        ends: Bool,
        via broker: RedisBroker
    ) async throws -> NamedPush {
        var options = JobOptions()
        options.name = name
        options.unique = policy
        options.milliseconds = 30
        let job = try context.job(context.pick(["mark", "nap"]), options)
        let receipt = try await context.push([job], ends: ends, via: broker)[0]
        return NamedPush(id: job.id, outcome: receipt.outcome, holder: receipt.holder)
    }

    /// Checks that every accepted job reached its end or was replaced by a later one of its name.
    private static func judge(_ context: ScenarioContext, _ pushes: [NamedPush]) async throws {
        for outcome in [Receipt.Outcome.dropped, .replaced, .deferred] {
            context.injected(pushes.filter { $0.outcome == outcome }.count, or: "no push was \(outcome.rawValue)")
        }
        let lost = context.accounts.lostAnswers
        context.expectInTime(lost == 0, "\(lost) answers came too late to tell why jobs ended")
        guard lost == 0 else { return }
        let taken = pushes.filter { $0.outcome != .dropped }
        let reasons = Reasons(taken)
        let ended = context.ledger.ended
        var wrong: [String] = []
        for (push, record) in zip(taken, try await context.console.inspect(taken.map(\.id), on: ScenarioContext.queue))
        {
            let state = record?.state
            let isRight = state == .finished && ended[push.id] != nil || state == .replaced && reasons.has(push)
            if !isRight { wrong.append("\(push.id), \(push.outcome.rawValue), is \(state?.rawValue ?? "gone")") }
        }
        context.expect(wrong.isEmpty, "\(wrong.count) jobs ended without a reason: \(wrong.prefix(5))")
    }
}

/// A push of a job with a name, and its receipt.
private struct NamedPush: Sendable {
    let id: String
    let outcome: Receipt.Outcome
    let holder: String?
}

/// The jobs that may have been replaced, according to all receipts.
private struct Reasons {
    /// The holders that another job replaced or was deferred behind.
    private let holders: Set<String>
    /// The number of jobs deferred behind the same holder; only the last of them was not replaced.
    private let waiting: [String: Int]

    init(_ taken: [NamedPush]) {
        holders = Set(taken.compactMap(\.holder))
        waiting = taken.filter { $0.outcome == .deferred }.reduce(into: [:]) { $0[$1.holder ?? "", default: 0] += 1 }
    }

    /// Whether a job exists that may have replaced this one.
    func has(_ push: NamedPush) -> Bool {
        holders.contains(push.id) || push.outcome == .deferred && waiting[push.holder ?? "", default: 0] > 1
    }
}

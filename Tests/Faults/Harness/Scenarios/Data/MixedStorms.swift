import Errand
import ErrandRedis
import TestSupport

/// Storms that are too large for the server's own log: what became of each job must follow from the answers to the pushes.
extension Scenario {
    static let mixedStorms = [
        Scenario(
            "F72f",
            "a hundred producers drop and replace jobs of a few names while workers are killed",
            mixedStorm
        )
    ]

    private static let names = (1...4).map { "name \($0)" }

    private static func mixedStorm(_ play: Play) async throws {
        let server = try play.server()
        // What ended first must still be known in the end.
        try await play.console.createQueue(Play.queue)
        try await play.console.configure(Play.queue, QueueSettings(rememberIDsMilliseconds: 3_600_000))
        let crew = try await Crew(play, 3)
        let producers = try (0..<100).map { _ in try play.connect(server.url) }
        let seconds = play.size(quick: 5, full: 60)
        async let raging = rage(play, producers, for: .seconds(seconds))
        for _ in 0..<seconds {
            try await Task.sleep(for: .seconds(1))
            await crew.killOne()
        }
        var pushes = try await raging
        // Nothing comes after these, so each of them must run.
        for name in names { pushes.append(try await push(play, name, .replace, ends: true, via: producers[0])) }
        let last = pushes.suffix(names.count).map(\.id)
        try await play.recovers("the last job of each name runs", within: .seconds(20)) {
            last.allSatisfy { play.ledger.ended[$0] != nil }
        }
        try await play.drain()
        await crew.dismiss()
        play.struck(try await play.totals()["recovered"], or: "no kill reached a job")
        try await judge(play, pushes)
    }

    /// Each producer pushes about ten jobs a second, one after the other.
    private static func rage(
        _ play: Play,
        _ producers: [RedisBroker],
        for time: Duration
    ) async throws -> [NamedPush] {
        let until = ContinuousClock.now + time
        return try await withThrowingTaskGroup(of: [NamedPush].self) { group in
            for broker in producers {
                group.addTask {
                    var pushes: [NamedPush] = []
                    while ContinuousClock.now < until {
                        let policy: UniquenessPolicy = play.pick([.drop, .replace])
                        pushes.append(try await push(play, play.pick(names), policy, ends: false, via: broker))
                        try await Task.sleep(for: .milliseconds(play.random(20...180)))
                    }
                    return pushes
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static func push(
        _ play: Play,
        _ name: String,
        _ policy: UniquenessPolicy,
        ends: Bool,
        via broker: RedisBroker
    ) async throws -> NamedPush {
        var options = JobOptions()
        options.name = name
        options.unique = policy
        options.milliseconds = 30
        let job = try play.job(play.pick(["mark", "nap"]), options)
        let receipt = try await play.push([job], ends: ends, via: broker)[0]
        return NamedPush(id: job.id, outcome: receipt.outcome, holder: receipt.holder)
    }

    /// Every job that was taken ran to its end, or gave way to a later one of its name.
    private static func judge(_ play: Play, _ pushes: [NamedPush]) async throws {
        for outcome in [Receipt.Outcome.dropped, .replaced, .deferred] {
            play.struck(pushes.filter { $0.outcome == outcome }.count, or: "no push was \(outcome.rawValue)")
        }
        let lost = play.accounts.lostAnswers
        play.expectInTime(lost == 0, "\(lost) answers came too late to tell why jobs ended")
        guard lost == 0 else { return }
        let taken = pushes.filter { $0.outcome != .dropped }
        let reasons = Reasons(taken)
        let ended = play.ledger.ended
        var wrong: [String] = []
        for (push, record) in zip(taken, try await play.console.inspect(taken.map(\.id), on: Play.queue)) {
            let state = record?.state
            let isRight = state == .finished && ended[push.id] != nil || state == .replaced && reasons.has(push)
            if !isRight { wrong.append("\(push.id), \(push.outcome.rawValue), is \(state?.rawValue ?? "gone")") }
        }
        play.expect(wrong.isEmpty, "\(wrong.count) jobs ended without a reason: \(wrong.prefix(5))")
    }
}

/// A push of a job with a name, and what the broker said to it.
private struct NamedPush: Sendable {
    let id: String
    let outcome: Receipt.Outcome
    let holder: String?
}

/// Which jobs may have given way to others, by the answers to all pushes.
private struct Reasons {
    /// Those that held the name when another one took it over, or was to come after them.
    private let holders: Set<String>
    /// How many were to come after the same one: of these only the last did not give way.
    private let waiting: [String: Int]

    init(_ taken: [NamedPush]) {
        holders = Set(taken.compactMap(\.holder))
        waiting = taken.filter { $0.outcome == .deferred }.reduce(into: [:]) { $0[$1.holder ?? "", default: 0] += 1 }
    }

    /// Whether there is one to which this one may have given way.
    func has(_ push: NamedPush) -> Bool {
        holders.contains(push.id) || push.outcome == .deferred && waiting[push.holder ?? "", default: 0] > 1
    }
}

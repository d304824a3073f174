import Errand
import ErrandRedis
import Foundation
import TestSupport

/// A schedule that ticks every second while a scenario does its worst: each tick must be pushed once, and its job must run.
struct Pulse {
    private static let name = "pulse"
    private static let interval: Int64 = 1000
    /// More missed ticks than this are not counted at once (`docs/schedules.md`).
    private static let missedAtMost = 1000
    /// So many ticks of the last seconds are pushed although nothing is made up for.
    static let comeLateAtMost = 12

    private let context: ScenarioContext
    private let broker: RedisBroker

    /// Stores it; from then on it ticks while any worker serves the queue.
    ///
    /// - Parameter broker: what it is stored through; past every proxy unless given.
    init(
        _ context: ScenarioContext,
        via broker: RedisBroker? = nil,
        catchUp: Schedule.CatchUp = .all(limit: Pulse.missedAtMost)
    ) async throws {
        let broker = try broker ?? context.console
        let schedule = try Schedule(
            Self.name,
            .every(.milliseconds(Self.interval)),
            pushing: OperationDescription("mark", queue: ScenarioContext.queue),
            catchUp: catchUp
        )
        try await context.insist { try await broker.put(schedule) }
        self.context = context
        self.broker = broker
    }

    /// What the broker knows of it.
    func record() async throws -> ScheduleRecord {
        guard let record = try await context.console.schedule(Self.name, on: ScenarioContext.queue) else {
            throw TestFailure("the schedule is gone")
        }
        return record
    }

    /// Pauses it and resumes it: it ticks from now on, wherever it was.
    func restart() async throws {
        try await context.insist { try await broker.pauseSchedule(Self.name, on: ScenarioContext.queue) }
        try await context.insist { try await broker.resumeSchedule(Self.name, on: ScenarioContext.queue) }
    }

    /// Lets it tick no more, waits until what it has pushed has run, and checks that no tick was lost and none came twice.
    ///
    /// - Parameter isSteady: whether its ticks follow each other; not where it was restarted at another time.
    func stop(isSteady: Bool = true) async throws {
        let ticks = try await end().compactMap(Self.tick).sorted()
        let last = try await record()
        context.expect(last.pushed == ticks.count, "\(last.pushed) ticks were pushed, and \(ticks.count) ran")
        guard isSteady else { return }
        context.expect(
            last.lastTick == ticks.last,
            "the last tick that ran was \(ticks.last ?? 0), not \(last.lastTick ?? 0)"
        )
        let left = Self.leftOut(of: ticks)
        context.expect(last.missed == left, "\(left) ticks were left out, and \(last.missed) are said to be missed")
    }

    /// Lets it tick no more where the broker went back to an older state so many times and nothing is made up for: of the ticks that
    /// were pushed since then only the last few may have come again, and each of all is known as pushed or missed.
    func stop(afterReturns returns: Int) async throws {
        let ids = try await end()
        let last = try await record()
        let first = ids.compactMap(Self.tick).min() ?? 0
        let span = Int(((last.lastTick ?? 0) - first) / Self.interval) + 1
        context.expect(
            last.pushed + last.missed == span,
            "of \(span) ticks \(last.pushed) are said to be pushed and \(last.missed) to be missed"
        )
        let begun = context.ledger.begun
        let again = ids.filter { begun[$0, default: 0] > 1 }.count
        context.note("\(again) ticks came again")
        context.expectStrike(again > 0, "no tick came again")
        context.expect(again <= returns * Self.comeLateAtMost, "\(again) ticks came again in \(returns) rounds")
    }

    /// Lets it tick no more, and waits until what it has pushed has run.
    ///
    /// - Returns: the ids of the ticks' jobs.
    private func end() async throws -> [String] {
        try await context.insist { try await broker.pauseSchedule(Self.name, on: ScenarioContext.queue) }
        try await context.drain()
        let ids = context.ledger.begun.keys.filter { $0.hasPrefix("tick-") }
        for id in ids { context.accounts.adopt(id) }
        context.expect(!ids.isEmpty, "no tick was pushed")
        return ids
    }

    /// The time for which a job was pushed: its id begins with it.
    private static func tick(_ id: String) -> Int64? {
        id.split(separator: "-").dropFirst().first.flatMap { Int64($0) }
    }

    /// How many ticks are missing between others, counted as missed ones are.
    private static func leftOut(of ticks: [Int64]) -> Int {
        zip(ticks, ticks.dropFirst()).reduce(0) { sum, pair in
            sum + min(Int((pair.1 - pair.0) / interval) - 1, missedAtMost)
        }
    }
}

import Errand
import ErrandRedis
import Foundation
import TestSupport

/// A schedule that ticks every second during a scenario: each tick must be pushed once, and its job must run.
struct Pulse {
    private static let name = "pulse"
    private static let interval: Int64 = 1000
    /// The largest number of missed ticks that are counted at once (`docs/schedules.md`).
    private static let missedAtMost = 1000
    /// The number of ticks of the last seconds that are pushed even without catching up.
    static let comeLateAtMost = 12

    private let context: ScenarioContext
    private let broker: RedisBroker

    /// Stores it; it then ticks while any worker serves the queue.
    ///
    /// - Parameter broker: The broker to store it through; by default one without a proxy.
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

    /// The broker's record of it.
    func record() async throws -> ScheduleRecord {
        guard let record = try await context.console.schedule(Self.name, on: ScenarioContext.queue) else {
            throw TestFailure("the schedule is gone")
        }
        return record
    }

    /// Pauses and resumes it, so that it ticks from now on.
    func restart() async throws {
        try await context.insist { try await broker.pauseSchedule(Self.name, on: ScenarioContext.queue) }
        try await context.insist { try await broker.resumeSchedule(Self.name, on: ScenarioContext.queue) }
    }

    /// Stops it, waits until its jobs have run, and checks that no tick was lost or repeated.
    ///
    /// - Parameter isSteady: Whether its ticks are consecutive; not if it was restarted at another time.
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

    /// Stops it after the broker was rolled back this many times, without catching up: of the ticks that
    /// were pushed since then only the last few may be repeated, and every tick is counted as pushed or missed.
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
        context.expectInjection(again > 0, "no tick came again")
        context.expect(again <= returns * Self.comeLateAtMost, "\(again) ticks came again in \(returns) rounds")
    }

    /// Stops it, and waits until its jobs have run.
    ///
    /// - Returns: The ids of the ticks' jobs.
    private func end() async throws -> [String] {
        try await context.insist { try await broker.pauseSchedule(Self.name, on: ScenarioContext.queue) }
        try await context.drain()
        let ids = context.ledger.begun.keys.filter { $0.hasPrefix("tick-") }
        for id in ids { context.accounts.adopt(id) }
        context.expect(!ids.isEmpty, "no tick was pushed")
        return ids
    }

    /// The tick's time of a job, with which its id begins.
    private static func tick(_ id: String) -> Int64? {
        id.split(separator: "-").dropFirst().first.flatMap { Int64($0) }
    }

    /// The number of missing ticks between others, counted like missed ones.
    private static func leftOut(of ticks: [Int64]) -> Int {
        zip(ticks, ticks.dropFirst()).reduce(0) { sum, pair in
            sum + min(Int((pair.1 - pair.0) / interval) - 1, missedAtMost)
        }
    }
}

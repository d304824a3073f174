import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Servers whose clocks jump.
extension Scenario {
    static let jumpingClocks = [
        Scenario("F58", "the server's clock jumps an hour ahead", needs: [.faketime]) { context in
            try await jump(context, by: "+3600")
        },
        Scenario("F58b", "the server's clock jumps an hour back", quick: true, needs: [.faketime]) { context in
            try await jump(context, by: "-3600")
        },
        Scenario("F58c", "the server's clock jumps ten years ahead and back again", needs: [.faketime]) { context in
            try await jump(context, by: "+315360000")
        },
    ]

    /// No job is taken from a live worker, a dead one's jobs come back in time, tokens grow, what is due later waits, and
    /// a schedule ticks as `docs/schedules.md` says.
    private static func jump(_ context: ScenarioContext, by seconds: String) async throws {
        let isBeyondDue = (Int64(seconds) ?? 0) * 1000 > distantDelay
        // By our clock the distant job begins early then; no other jump ahead makes anything due.
        if isBeyondDue { context.rules { $0.earlyTolerance = distantDelay } }
        let clock = try MovableClock(context)
        let server = try clock.server(context)
        let workers = try await context.workers(2)
        let load = context.load(rate: 40)
        // Whether a tick comes twice shows best where none is made up for.
        let pulse = try await Pulse(context, catchUp: .none)
        try await eventually("the schedule ticks") { try await pulse.record().pushed > 1 }
        let distant = try await context.push(1, "mark") {
            $0.delay = distantDelay
            $0.ends = false
        }
        var soon: [String] = []
        var isSteady = true
        let jumps = context.isFull ? [seconds, "+0", seconds, "+0"] : [seconds, "+0"]
        for (round, offset) in jumps.enumerated() {
            let held = try await context.push(6, "block") { $0.milliseconds = 5000 }
            try await eventually("six jobs run") { held.allSatisfy { context.ledger.begun[$0] != nil } }
            let lost = try await killedWorkersJobs(context)
            let before = try time(of: server)
            // After a jump behind our clock it is due an hour later than was meant, or at the next jump ahead.
            if offset.hasPrefix("-") { soon += try await context.push(1, "mark") { $0.delay = 2000 } }
            let token = context.ledger.lines.map(\.token).max() ?? 0
            try clock.set(offset)
            try await eventually("the clock has jumped") { abs(try time(of: server) - before) > 3000 }
            context.injected()
            let jumped = ContinuousClock.now
            let now = try time(of: server)
            let ticked = try await pulse.record()
            try await expectEnds(of: held, and: lost, context, since: jumped, round)
            try await context.carries(load, within: .seconds(8))
            expectGreaterTokens(context, than: token, since: jumped)
            if now > before {
                try await ticksOn(pulse, from: now)
            } else if try await standsStill(pulse, context, since: ticked, by: before - now) {
                isSteady = false
            }
        }
        try await load.stop()
        try await context.recovers("what came to be due has ended", within: .seconds(10)) {
            soon.allSatisfy { context.ledger.ended[$0] != nil }
        }
        try await settle(distant, context, mustHaveRun: isBeyondDue)
        try await pulse.stop(isSteady: isSteady)
        try await expectUnharmed(workers, context, server)
    }

    private static let distantDelay: Int64 = 7_200_000

    /// Jobs of live workers end in their only run, those of a dead worker in another.
    private static func expectEnds(
        of held: [String],
        and lost: [String],
        _ context: ScenarioContext,
        since jumped: ContinuousClock.Instant,
        _ round: Int
    ) async throws {
        try await context.recovers("every job ends", within: .seconds(15), since: jumped) {
            (held + lost).allSatisfy { context.ledger.ended[$0] != nil }
        }
        let ranOnce = held.allSatisfy { context.ledger.begun[$0] == 1 }
        context.expect(ranOnce, "a live worker was robbed in round \(round)")
    }

    private static func expectUnharmed(
        _ workers: [Program],
        _ context: ScenarioContext,
        _ server: RedisServer
    ) async throws {
        try await eventually("the dead sessions are gone") {
            try server.run("ZCARD", KeySpace.key(of: ScenarioContext.queue) + ":sessions") == "2"
        }
        context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        let late = try await context.totals()["timed_out"]
        context.expect(late == 0, "\(late) claims were past their hard deadlines")
    }

    /// What is claimed after a jump has greater tokens than anything before it, wherever the clock has gone.
    private static func expectGreaterTokens(
        _ context: ScenarioContext,
        than token: UInt64,
        since jump: ContinuousClock.Instant
    ) {
        let later = context.accounts.tried(after: jump)
        let begins = context.ledger.lines.filter { $0.what == "begin" && later.contains($0.id) }
        context.expectInjection(!begins.isEmpty, "no job was pushed and begun after the jump")
        let wrong = begins.filter { $0.token <= token }
        context.expect(wrong.isEmpty, "\(wrong.count) of \(begins.count) claims after the jump have no greater tokens")
    }

    /// A job that is due in two hours waits through a jump of one, and is run by a jump of years; what still waits is
    /// cancelled.
    private static func settle(_ distant: [String], _ context: ScenarioContext, mustHaveRun: Bool) async throws {
        let runs = distant.reduce(0) { $0 + (context.ledger.ended[$1] ?? 0) }
        context.expect(runs == (mustHaveRun ? 1 : 0), "a job that is due in two hours ran \(runs) times")
        guard !mustHaveRun else { return }
        let state = try await context.console.inspect(distant, on: ScenarioContext.queue)[0]?.state
        context.expect(state == .scheduled, "a job that is due in two hours is \(state?.rawValue ?? "gone")")
        _ = try await context.console.cancel(distant, on: ScenarioContext.queue)
    }

    /// Kills a worker that runs a job for certain: it is given long ones until it has begun one, for others have free
    /// slots, too. Returns these jobs.
    private static func killedWorkersJobs(_ context: ScenarioContext) async throws -> [String] {
        let worker = try await context.worker { $0.concurrency = 1 }
        var jobs: [String] = []
        try await eventually("the worker that is to die runs a job", within: .seconds(20)) {
            jobs += try await context.push(1, "block") { $0.milliseconds = 1500 }
            try await Task.sleep(for: .milliseconds(100))
            return context.holds(worker, jobs)
        }
        try await context.kill(worker)
        context.injected(context.holds(worker, jobs) ? 1 : 0, or: "the killed worker's job had ended")
        return jobs
    }

    /// After a jump ahead the ticks in between are left out, and it goes on at the new time, in seconds since 1970.
    private static func ticksOn(_ pulse: Pulse, from now: Int) async throws {
        try await eventually("the schedule ticks on at the new time", within: .seconds(10)) {
            try await pulse.record().lastTick ?? 0 >= Int64(now) * 1000
        }
    }

    /// After a jump back no tick comes again, until the clock has come up; or until somebody restarts it, if it went far.
    ///
    /// - Returns: whether it was restarted.
    private static func standsStill(
        _ pulse: Pulse,
        _ context: ScenarioContext,
        since ticked: ScheduleRecord,
        by seconds: Int
    ) async throws -> Bool {
        let later = try await pulse.record()
        context.expect(later == ticked, "after a jump back \(later.pushed - ticked.pushed) ticks came")
        guard seconds > 86_400 else { return false }
        try await pulse.restart()
        // Ticks of the last ten seconds are not left out: at the next jump ahead, those of this one must be older, or they come again.
        try await eventually("the restarted schedule ticks at the new time", within: .seconds(20)) {
            try await pulse.record().pushed > ticked.pushed + Pulse.comeLateAtMost
        }
        return true
    }

    private static func time(of server: RedisServer) throws -> Int {
        Int(try server.run("TIME").split(separator: "\n")[0]) ?? 0
    }
}

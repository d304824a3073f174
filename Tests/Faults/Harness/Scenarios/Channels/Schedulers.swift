import Errand
import ErrandOperator
import ErrandRedis
import Foundation
import TestSupport

/// Schedules with workers that die, stop and have wrong clocks, and with clock changes.
extension Scenario {
    static let schedulers = [
        Scenario(
            "F81",
            "twenty schedulers with clocks up to five minutes apart are killed at random",
            quick: true,
            alone: true,
            needs: [.faketime],
            disagreeingClocks
        ),
        Scenario("F82", "the only scheduler is suspended over many ticks", quick: true, alone: true) { context in
            let policies = [("none", "none", 0), ("latest", "latest", 1), ("few", "all, catch_up_limit: 3", 3)]
            let fixture = try await SchedulerFixture(
                context,
                Dictionary(
                    uniqueKeysWithValues: policies.map { ($0.0, "{every: 1s, operation: tick, catch_up: \($0.1)}") }
                )
            )
            let worker = try fixture.worker()
            try await eventually("all tick", within: .seconds(60)) {
                for (name, _, _) in policies {
                    guard try await fixture.pushed(name) > 0 else { return false }
                }
                return true
            }
            let pause = context.size(quick: 16, full: 100)
            worker.signal(SIGSTOP)
            let stopped = try await fixture.now()
            try await Task.sleep(for: .seconds(pause))
            worker.signal(SIGCONT)
            context.injected()
            try await context.recovers("they tick again", within: .seconds(30)) {
                for (name, _, _) in policies {
                    guard try await fixture.record(name).lastTick ?? 0 > stopped + Int64(pause) * 1000 else {
                        return false
                    }
                }
                return true
            }
            let ticks = try await fixture.stop(policies.map(\.0))
            for (name, _, most) in policies {
                let mine = ticks.filter { $0.schedule == name }.sorted { $0.tick < $1.tick }
                let record = try await fixture.record(name)
                let span = Int(((mine.last?.tick ?? 0) - (mine.first?.tick ?? 0)) / 1000) + 1
                context.expect(Set(mine.map(\.tick)).count == mine.count, "\(name): a tick came twice")
                context.expect(mine.count + record.missed == span, "\(name): a tick is not accounted for")
                let late = mine.filter { $0.pushedAt - $0.tick > 10_000 }.count
                context.expect(late == min(most, record.missed + late), "\(name): caught up with \(late), not \(most)")
                if most == 0 { context.expectInjection(record.missed > 0, "no tick was missed") }
            }
            try await fixture.finish(ticks.count)
        },
        Scenario("F83", "daylight saving begins and ends, by the server's clock", quick: true, needs: [.faketime]) {
            context in
            // 02:30 in Berlin does not exist on 28 March 2027, at 01:00 UTC, and occurs twice on 31 October, at 00:30
            // and 01:30 UTC.
            let clock = try MovableClock(context)
            let (springs, falls) = (1_806_195_600, 1_824_942_600)
            try clock.set(to: springs - 5)
            let nightly = #"{cron: "30 2 * * *", time_zone: Europe/Berlin, operation: tick}"#
            let hourly = #"{cron: "30 * * * *", time_zone: Europe/Berlin, operation: tick}"#
            let fixture = try await SchedulerFixture(
                context,
                ["nightly": nightly, "hourly": hourly],
                on: clock.server(context)
            )
            try fixture.worker()
            try await eventually("the skipped hour ticks at the jump") { try await fixture.pushed("nightly") == 1 }
            // A day before the clocks are set back, so that only a long outage could miss ticks in between.
            try clock.set(to: falls - 86_400 + 10)
            try await eventually("the months between are caught up with") {
                try await fixture.pushed("nightly") == 2
            }
            try clock.set(to: falls - 4)
            try await eventually("the first 02:30 ticks", within: .seconds(60)) {
                try await fixture.pushed("nightly") == 3
            }
            try clock.set(to: falls + 3600 - 4)
            try await eventually("every hour ticks in the second 02:30") {
                try await fixture.record("hourly").lastTick == Int64(falls + 3600) * 1000
            }
            context.injected(2)
            let ticks = try await fixture.stop(["nightly", "hourly"]).filter { $0.schedule == "nightly" }.map(\.tick)
                .sorted()
            let expected = [springs, falls - 86_400, falls].map { Int64($0) * 1000 }
            context.expect(ticks == expected, "ticks were \(ticks), not \(expected)")
            context.rules { $0.workersLeaveCleanly = false }
            try await fixture.finish(nil)
        },
    ]

    private static func disagreeingClocks(_ context: ScenarioContext) async throws {
        let fixture = try await SchedulerFixture(context, ["pulse": "{every: 1s, operation: tick, catch_up: none}"])
        var started: [(worker: Program, at: Int64)] = []
        func start() throws -> Program {
            let now = ScenarioContext.now
            let worker = try fixture.worker(shiftedBy: context.random(-300...300))
            started.append((worker, now))
            return worker
        }
        var workers: [Program] = []
        for _ in 0..<20 { workers.append(try start()) }
        try await eventually("it ticks", within: .seconds(60)) { try await fixture.pushed("pulse") > 0 }
        let until = ContinuousClock.now + .seconds(context.size(quick: 15, full: 600))
        while ContinuousClock.now < until {
            let victim = context.random(0...workers.count - 1)
            try await context.kill(workers[victim])
            context.injected()
            workers[victim] = try start()
            try await Task.sleep(for: .milliseconds(context.random(100...1500)))
        }
        // In half minutes, because on a busy machine a worker takes seconds until its first output.
        let skews = Set(started.compactMap { fixture.skew(of: $0.worker, startedAt: $0.at).map { $0 / 30_000 } })
        context.injected(
            skews.count > 4 ? skews.count : 0,
            or: "clocks were off by \(skews.sorted()) half minutes only"
        )
        try await judge(try await fixture.stop(["pulse"]), fixture)
    }

    /// Checks that each second ticked once, and none too early.
    private static func judge(_ ticks: [SchedulerFixture.Tick], _ fixture: SchedulerFixture) async throws {
        let context = fixture.context
        let times = ticks.map(\.tick).sorted()
        let first = times.first ?? 0
        context.expect(times == times.indices.map { first + Int64($0) * 1000 }, "not each second once")
        context.expect(times.count >= context.size(quick: 14, full: 600), "only \(times.count) ticks")
        context.expect(ticks.allSatisfy { $0.pushedAt >= $0.tick }, "a tick came early")
        let late = ticks.map { $0.pushedAt - $0.tick }.sorted()
        context.note("\(ticks.count) ticks; late in ms: median \(late[late.count / 2]), most \(late.last ?? 0)")
        let pushed = try await fixture.record("pulse").pushed
        context.expect(pushed == ticks.count, "\(pushed) are said to be pushed")
        try await fixture.finish(ticks.count)
    }
}

/// A paused queue that collects ticks for inspection.
private struct SchedulerFixture {
    let context: ScenarioContext
    let server: RedisServer
    private let catalogue: String

    init(_ context: ScenarioContext, _ schedules: [String: String], on server: RedisServer? = nil) async throws {
        self.context = context
        self.server = try server ?? context.server()
        catalogue = context.directory + "/schedules.yaml"
        let lines = schedules.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
        let operations = "operations:\n  tick: {run: [\"true\"], queue: \(ScenarioContext.queue)}\n"
        try (operations + "schedules:\n" + lines.joined(separator: "\n"))
            .write(toFile: catalogue, atomically: true, encoding: .utf8)
        try await context.console.createQueue(ScenarioContext.queue)
        try await context.console.configure(ScenarioContext.queue, QueueSettings(isPaused: true))
    }

    @discardableResult
    func worker(shiftedBy seconds: Int = 0) throws -> Program {
        let worker = try context.program(
            "/usr/bin/env",
            try (seconds == 0 ? [] : Faketime.prefix(seconds < 0 ? "\(seconds)" : "+\(seconds)")) + [
                Program.path(of: "errand-worker"), "--catalogue", catalogue, "--queue", ScenarioContext.queue,
                "--redis",
                server.url,
                "--lease", "5s", "--concurrency", "1", "--log-format", "json",
            ]
        )
        context.atEnd { Faketime.cleanUp(after: worker.pid) }
        return worker
    }

    /// The error of a worker's clock in milliseconds, from the first entry of its log; `nil` before there is one.
    func skew(of worker: Program, startedAt start: Int64) -> Int64? {
        struct Entry: Decodable { let time: String }
        for line in worker.lines {
            let entry = try? JSONDecoder().decode(Entry.self, from: Data(line.utf8))
            if let time = entry.flatMap({ try? Timestamp.parse($0.time) }) { return time - start }
        }
        return nil
    }

    func record(_ name: String) async throws -> ScheduleRecord {
        guard let record = try await context.console.schedule(name, on: ScenarioContext.queue) else {
            throw TestFailure("\(name) is not there yet")
        }
        return record
    }

    /// The number of pushed ticks; 0 while the schedule does not exist yet.
    func pushed(_ name: String) async throws -> Int {
        try await context.console.schedule(name, on: ScenarioContext.queue)?.pushed ?? 0
    }

    func now() async throws -> Int64 {
        try await context.console.dueSchedules(on: ScenarioContext.queue, skipping: 0).now
    }

    struct Tick: Sendable {
        let schedule: String
        let tick: Int64
        /// By the server's clock.
        let pushedAt: Int64
    }

    /// Pauses the schedules and returns every tick with a waiting job.
    func stop(_ names: [String]) async throws -> [Tick] {
        for name in names { _ = try await context.console.pauseSchedule(name, on: ScenarioContext.queue) }
        var ticks: [Tick] = []
        var from: Int? = 0
        while let start = from {
            let page = try await context.console.jobs(in: .ready, on: ScenarioContext.queue, from: start, count: 500)
            for record in page.jobs {
                let stored = try JobEnvelope.read(stored: record.body)
                let meta = stored.description.meta
                guard let schedule = meta["schedule"], let tick = meta["tick_ms"].flatMap({ Int64($0) }) else {
                    throw TestFailure("\(record.id) is no tick's job")
                }
                ticks.append(Tick(schedule: schedule, tick: tick, pushedAt: stored.readySince))
            }
            from = page.next
        }
        return ticks
    }

    /// Stops all but one worker, which ends the sessions of killed ones and then stops, too.
    private func leave() async throws {
        let alive = context.livingPrograms
        for worker in alive.dropLast() { worker.signal(SIGTERM) }
        for worker in alive.dropLast() { _ = try await worker.end() }
        try await eventually("the sessions of killed workers are gone") {
            try await context.console.status(of: ScenarioContext.queue).sessions.count <= 1
        }
        alive.last?.signal(SIGTERM)
        _ = try await alive.last?.end()
    }

    /// Lets the jobs run, or deletes them, so that nothing is left.
    func finish(_ count: Int?) async throws {
        if count == nil { while try await context.console.clear(ScenarioContext.queue) > 0 {} }
        try await context.console.configure(ScenarioContext.queue, QueueSettings(isPaused: false))
        try await context.drain(within: .seconds(120))
        try await leave()
        guard let count else { return }
        let finished = try await context.totals()["finished"]
        context.expect(finished == count, "\(finished) of \(count) ran")
    }
}

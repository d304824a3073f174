import Errand
import ErrandOperator
import ErrandRedis
import Foundation
import TestSupport

/// Schedules under workers that die, stop, and disagree about the time, and under clocks that change.
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
        Scenario("F82", "the only scheduler stands still over many ticks", quick: true, alone: true) { play in
            let policies = [("none", "none", 0), ("latest", "latest", 1), ("few", "all, catch_up_limit: 3", 3)]
            let stage = try await SchedulerStage(
                play,
                Dictionary(
                    uniqueKeysWithValues: policies.map { ($0.0, "{every: 1s, operation: tick, catch_up: \($0.1)}") }
                )
            )
            let worker = try stage.worker()
            try await eventually("all tick", within: .seconds(60)) {
                for (name, _, _) in policies {
                    guard try await stage.pushed(name) > 0 else { return false }
                }
                return true
            }
            let pause = play.size(quick: 16, full: 100)
            worker.signal(SIGSTOP)
            let stopped = try await stage.now()
            try await Task.sleep(for: .seconds(pause))
            worker.signal(SIGCONT)
            play.struck()
            try await play.recovers("they tick again", within: .seconds(30)) {
                for (name, _, _) in policies {
                    guard try await stage.record(name).lastTick ?? 0 > stopped + Int64(pause) * 1000 else {
                        return false
                    }
                }
                return true
            }
            let ticks = try await stage.stop(policies.map(\.0))
            for (name, _, most) in policies {
                let mine = ticks.filter { $0.schedule == name }.sorted { $0.tick < $1.tick }
                let record = try await stage.record(name)
                let span = Int(((mine.last?.tick ?? 0) - (mine.first?.tick ?? 0)) / 1000) + 1
                play.expect(Set(mine.map(\.tick)).count == mine.count, "\(name): a tick came twice")
                play.expect(mine.count + record.missed == span, "\(name): a tick is not accounted for")
                let late = mine.filter { $0.pushedAt - $0.tick > 10_000 }.count
                play.expect(late == min(most, record.missed + late), "\(name): caught up with \(late), not \(most)")
                if most == 0 { play.expectStrike(record.missed > 0, "no tick was missed") }
            }
            try await stage.finish(ticks.count)
        },
        Scenario("F83", "daylight saving begins and ends, by the server's clock", quick: true, needs: [.faketime]) {
            play in
            // 02:30 in Berlin is left out on 28 March 2027, at 01:00 UTC, and comes twice on 31 October, at 00:30 and 01:30 UTC.
            let clock = try MovableClock(play)
            let (springs, falls) = (1_806_195_600, 1_824_942_600)
            try clock.set(to: springs - 5)
            let nightly = #"{cron: "30 2 * * *", time_zone: Europe/Berlin, operation: tick}"#
            let hourly = #"{cron: "30 * * * *", time_zone: Europe/Berlin, operation: tick}"#
            let stage = try await SchedulerStage(play, ["nightly": nightly, "hourly": hourly], on: clock.server(play))
            try stage.worker()
            try await eventually("the skipped hour ticks at the jump") { try await stage.pushed("nightly") == 1 }
            // A day before the clocks go back, so that nothing is missed in between but what a long outage would miss.
            try clock.set(to: falls - 86_400 + 10)
            try await eventually("the months between are caught up with") {
                try await stage.pushed("nightly") == 2
            }
            try clock.set(to: falls - 4)
            try await eventually("the first 02:30 ticks", within: .seconds(60)) {
                try await stage.pushed("nightly") == 3
            }
            try clock.set(to: falls + 3600 - 4)
            try await eventually("every hour ticks in the second 02:30") {
                try await stage.record("hourly").lastTick == Int64(falls + 3600) * 1000
            }
            play.struck(2)
            let ticks = try await stage.stop(["nightly", "hourly"]).filter { $0.schedule == "nightly" }.map(\.tick)
                .sorted()
            let expected = [springs, falls - 86_400, falls].map { Int64($0) * 1000 }
            play.expect(ticks == expected, "ticks were \(ticks), not \(expected)")
            play.rules { $0.workersLeaveCleanly = false }
            try await stage.finish(nil)
        },
    ]

    private static func disagreeingClocks(_ play: Play) async throws {
        let stage = try await SchedulerStage(play, ["pulse": "{every: 1s, operation: tick, catch_up: none}"])
        var started: [(worker: Program, at: Int64)] = []
        func start() throws -> Program {
            let now = Play.now
            let worker = try stage.worker(shiftedBy: play.random(-300...300))
            started.append((worker, now))
            return worker
        }
        var workers: [Program] = []
        for _ in 0..<20 { workers.append(try start()) }
        try await eventually("it ticks", within: .seconds(60)) { try await stage.pushed("pulse") > 0 }
        let until = ContinuousClock.now + .seconds(play.size(quick: 15, full: 600))
        while ContinuousClock.now < until {
            let victim = play.random(0...workers.count - 1)
            try await play.kill(workers[victim])
            play.struck()
            workers[victim] = try start()
            try await Task.sleep(for: .milliseconds(play.random(100...1500)))
        }
        // In half minutes: on a busy machine a worker takes seconds until it first says something.
        let skews = Set(started.compactMap { stage.skew(of: $0.worker, startedAt: $0.at).map { $0 / 30_000 } })
        play.struck(skews.count > 4 ? skews.count : 0, or: "clocks were off by \(skews.sorted()) half minutes only")
        try await judge(try await stage.stop(["pulse"]), stage)
    }

    /// Each second ticked once, and none too early.
    private static func judge(_ ticks: [SchedulerStage.Tick], _ stage: SchedulerStage) async throws {
        let play = stage.play
        let times = ticks.map(\.tick).sorted()
        let first = times.first ?? 0
        play.expect(times == times.indices.map { first + Int64($0) * 1000 }, "not each second once")
        play.expect(times.count >= play.size(quick: 14, full: 600), "only \(times.count) ticks")
        play.expect(ticks.allSatisfy { $0.pushedAt >= $0.tick }, "a tick came early")
        let late = ticks.map { $0.pushedAt - $0.tick }.sorted()
        play.note("\(ticks.count) ticks; late in ms: median \(late[late.count / 2]), most \(late.last ?? 0)")
        let pushed = try await stage.record("pulse").pushed
        play.expect(pushed == ticks.count, "\(pushed) are said to be pushed")
        try await stage.finish(ticks.count)
    }
}

/// A paused queue, in which ticks pile up to be looked at.
private struct SchedulerStage {
    let play: Play
    let server: RedisServer
    private let catalogue: String

    init(_ play: Play, _ schedules: [String: String], on server: RedisServer? = nil) async throws {
        self.play = play
        self.server = try server ?? play.server()
        catalogue = play.directory + "/schedules.yaml"
        let lines = schedules.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
        let operations = "operations:\n  tick: {run: [\"true\"], queue: \(Play.queue)}\n"
        try (operations + "schedules:\n" + lines.joined(separator: "\n"))
            .write(toFile: catalogue, atomically: true, encoding: .utf8)
        try await play.console.createQueue(Play.queue)
        try await play.console.configure(Play.queue, QueueSettings(isPaused: true))
    }

    @discardableResult
    func worker(shiftedBy seconds: Int = 0) throws -> Program {
        let worker = try play.program(
            "/usr/bin/env",
            try (seconds == 0 ? [] : Faketime.prefix(seconds < 0 ? "\(seconds)" : "+\(seconds)")) + [
                Program.path(of: "errand-worker"), "--catalogue", catalogue, "--queue", Play.queue, "--redis",
                server.url,
                "--lease", "5s", "--concurrency", "1", "--log-format", "json",
            ]
        )
        play.atEnd { Faketime.cleanUp(after: worker.pid) }
        return worker
    }

    /// By how many milliseconds a worker's clock is wrong, as the first entry of its log tells; `nil` before there is one.
    func skew(of worker: Program, startedAt start: Int64) -> Int64? {
        struct Entry: Decodable { let time: String }
        for line in worker.lines {
            let entry = try? JSONDecoder().decode(Entry.self, from: Data(line.utf8))
            if let time = entry.flatMap({ try? Timestamp.parse($0.time) }) { return time - start }
        }
        return nil
    }

    func record(_ name: String) async throws -> ScheduleRecord {
        guard let record = try await play.console.schedule(name, on: Play.queue) else {
            throw TestFailure("\(name) is not there yet")
        }
        return record
    }

    /// How many ticks have been pushed; 0 while there is no such schedule yet.
    func pushed(_ name: String) async throws -> Int {
        try await play.console.schedule(name, on: Play.queue)?.pushed ?? 0
    }

    func now() async throws -> Int64 { try await play.console.dueSchedules(on: Play.queue, skipping: 0).now }

    struct Tick: Sendable {
        let schedule: String
        let tick: Int64
        /// By the server's clock.
        let pushedAt: Int64
    }

    /// Pauses the schedules and answers every tick whose job waits.
    func stop(_ names: [String]) async throws -> [Tick] {
        for name in names { _ = try await play.console.pauseSchedule(name, on: Play.queue) }
        var ticks: [Tick] = []
        var from: Int? = 0
        while let start = from {
            let page = try await play.console.jobs(in: .ready, on: Play.queue, from: start, count: 500)
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

    /// All but one worker leave; that one ends the sessions of those that were killed, and leaves too.
    private func leave() async throws {
        let alive = play.livingPrograms
        for worker in alive.dropLast() { worker.signal(SIGTERM) }
        for worker in alive.dropLast() { _ = try await worker.end() }
        try await eventually("the sessions of killed workers are gone") {
            try await play.console.status(of: Play.queue).sessions.count <= 1
        }
        alive.last?.signal(SIGTERM)
        _ = try await alive.last?.end()
    }

    /// Lets the jobs run, or throws them away, so that nothing is left.
    func finish(_ count: Int?) async throws {
        if count == nil { while try await play.console.clear(Play.queue) > 0 {} }
        try await play.console.configure(Play.queue, QueueSettings(isPaused: false))
        try await play.drain(within: .seconds(120))
        try await leave()
        guard let count else { return }
        let finished = try await play.totals()["finished"]
        play.expect(finished == count, "\(finished) of \(count) ran")
    }
}

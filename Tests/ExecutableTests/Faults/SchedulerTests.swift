import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport
import Testing

extension FaultTests {
    /// Schedules under workers that die, stop, and disagree about the time.
    @Suite struct Schedulers {
        /// Twenty schedulers whose clocks are up to five minutes apart, one of them killed every now and then: each tick of
        /// every second is pushed once, none is missing, none comes early.
        @Test(.enabled(if: FakeTime.library != nil, "libfaketime is not installed"))
        func eachTickIsPushedOnceThoughClocksAreApart() async throws {
            var random = SeededRandom(for: "eachTickIsPushedOnceThoughClocksAreApart")
            let seconds = FaultProfile.size(quick: 20, full: 600)
            let stage = try await SchedulerStage(["pulse": "{every: 1s, operation: tick, catch_up: none}"])
            defer { stage.end() }
            // Six minutes in a clock are seen from outside: what follows is not about clocks that agree.
            #expect(try abs(FakeTime.seconds(shiftedBy: 360) - Int(Date().timeIntervalSince1970) - 360) < 30)
            var workers = try (0..<20).map { _ in
                try stage.worker(shiftedBy: Int.random(in: -300...300, using: &random))
            }
            try await eventually("it ticks: \(workers[0].lines)", within: .seconds(60)) {
                try await stage.broker.schedule("pulse", on: SchedulerStage.queue)?.pushed ?? 0 > 0
            }
            let start = ContinuousClock.now
            var kills = 0
            while ContinuousClock.now - start < .seconds(seconds) {
                let victim = Int.random(in: workers.indices, using: &random)
                workers[victim].signal(SIGKILL)
                _ = try await workers[victim].end()
                kills += 1
                workers[victim] = try stage.worker(shiftedBy: Int.random(in: -300...300, using: &random))
                try await Task.sleep(for: .milliseconds(Int.random(in: 100...1500, using: &random)))
            }
            #expect(kills >= seconds / 3, "the fault struck")
            _ = try await stage.broker.pauseSchedule("pulse", on: SchedulerStage.queue)
            let jobs = try await stage.jobs().filter { $0.schedule == "pulse" }
            let ticks = jobs.map(\.tick).sorted()
            let first = try #require(ticks.first)
            #expect(ticks.count >= seconds)
            #expect(ticks == ticks.indices.map { first + Int64($0) * 1000 }, "each second once")
            let record = try await stage.record("pulse")
            #expect(record.pushed == ticks.count)
            #expect(record.missed == 0)
            #expect(try await stage.broker.status(of: SchedulerStage.queue).queue.totals["pushed"] == ticks.count)
            #expect(jobs.allSatisfy { $0.pushedAt >= $0.tick }, "none early")
            let late = jobs.map { $0.pushedAt - $0.tick }.sorted()
            print(
                "ticks \(ticks.count), kills \(kills), late ms: median \(late[late.count / 2]), most \(late.last ?? 0)"
            )
            #expect(try await stage.broker.audit(SchedulerStage.queue, repair: false).isEmpty)
        }

        /// The only scheduler is stopped over many ticks: what was missed follows the policy of catching up, exactly.
        @Test
        func aStoppedSchedulerCatchesUpAsItIsTold() async throws {
            let pause = FaultProfile.size(quick: 16, full: 100)
            let stage = try await SchedulerStage([
                "none": "{every: 1s, operation: tick, catch_up: none}",
                "latest": "{every: 1s, operation: tick, catch_up: latest}",
                "few": "{every: 1s, operation: tick, catch_up: all, catch_up_limit: 3}",
                "all": "{every: 1s, operation: tick, catch_up: all, catch_up_limit: 1000}",
            ])
            defer { stage.end() }
            let worker = try stage.worker(shiftedBy: 0)
            try await eventually("all tick: \(worker.lines)", within: .seconds(60)) {
                try await stage.broker.schedules(on: SchedulerStage.queue).filter { $0.pushed > 0 }.count == 4
            }
            worker.signal(SIGSTOP)
            let stopped = try await stage.now()
            try await Task.sleep(for: .seconds(pause))
            worker.signal(SIGCONT)
            try await eventually("they tick again", within: .seconds(60)) {
                let now = try await stage.now()
                let records = try await stage.broker.schedules(on: SchedulerStage.queue)
                return records.allSatisfy {
                    $0.lastTick ?? 0 > stopped + Int64(pause) * 1000 && $0.nextTick ?? 0 > now - 1000
                }
            }
            for name in ["none", "latest", "few", "all"] {
                _ = try await stage.broker.pauseSchedule(name, on: SchedulerStage.queue)
            }
            try await check(stage, stopped: stopped, pause: Int64(pause))
        }

        private func check(_ stage: SchedulerStage, stopped: Int64, pause: Int64) async throws {
            let jobs = try await stage.jobs()
            for (name, most) in [("none", 0), ("latest", 1), ("few", 3), ("all", 1000)] {
                let mine = jobs.filter { $0.schedule == name }.sorted { $0.tick < $1.tick }
                let record = try await stage.record(name)
                let (first, last) = (try #require(mine.first).tick, try #require(mine.last).tick)
                #expect(Set(mine.map(\.tick)).count == mine.count, "\(name): no tick twice")
                #expect(record.pushed == mine.count)
                #expect(
                    mine.count + record.missed == Int((last - first) / 1000) + 1,
                    "\(name): every tick is accounted for"
                )
                let late = mine.filter { $0.pushedAt - $0.tick > 10_000 }
                let missed = record.missed + late.count
                #expect(missed >= Int(pause) - 12, "\(name): the stop was felt")
                #expect(late.count == min(most, missed), "\(name): caught up with \(late.count) of \(missed)")
                // Those that were caught up with are the newest: no tick after the first of them is missing.
                if let oldest = late.first?.tick {
                    let after = mine.filter { $0.tick >= oldest }.map(\.tick)
                    #expect(after == after.indices.map { oldest + Int64($0) * 1000 }, "\(name): the newest")
                }
            }
        }
    }
}

/// A server with a paused queue, in which ticks pile up to be looked at.
private final class SchedulerStage: Sendable {
    static let queue = "ticks"

    let server: RedisServer
    let broker: RedisBroker
    private let catalogue: String
    private let workers = Mutex<[Program]>([])

    init(_ schedules: [String: String]) async throws {
        server = try RedisServer()
        catalogue = server.directory + "/schedules.yaml"
        broker = try FaultScene.connect(server.url)
        let lines = schedules.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
        let text =
            "operations:\n  tick: {run: [\"true\"], queue: \(Self.queue)}\nschedules:\n" + lines.joined(separator: "\n")
        try text.write(toFile: catalogue, atomically: true, encoding: .utf8)
        try await broker.configure(Self.queue, QueueSettings(isPaused: true))
    }

    func end() {
        broker.close()
        for worker in workers.withLock({ $0 }) {
            worker.signal(SIGKILL)
            FakeTime.cleanUp(after: worker.pid)
        }
    }

    func worker(shiftedBy seconds: Int) throws -> Program {
        // libfaketime changes the environment when it is loaded, and a Swift program would not find its arguments any
        // more: `env`, which becomes the worker, has that behind it.
        let worker = try Program(
            "/usr/bin/env",
            [
                Program.path(of: "errand-worker"), "--catalogue", catalogue, "--queue", Self.queue, "--redis",
                server.url,
                "--lease", "5s", "--concurrency", "1", "--json",
            ],
            environment: seconds == 0 ? [:] : FakeTime.environment(shiftedBy: seconds)
        )
        workers.withLock { $0.append(worker) }
        return worker
    }

    func record(_ name: String) async throws -> ScheduleRecord {
        guard let record = try await broker.schedule(name, on: Self.queue) else {
            throw TestFailure("\(name) is not there yet")
        }
        return record
    }

    func now() async throws -> Int64 { try await broker.dueSchedules(on: Self.queue, skipping: 0).now }

    struct Job: Sendable {
        let schedule: String
        let tick: Int64
        /// By the server's clock.
        let pushedAt: Int64
    }

    /// All jobs that wait.
    func jobs() async throws -> [Job] {
        var jobs: [Job] = []
        var from: Int? = 0
        while let start = from {
            let page = try await broker.jobs(in: .ready, on: Self.queue, from: start, count: 500)
            for record in page.jobs {
                let stored = try JobEnvelope.read(stored: record.body)
                guard let schedule = stored.description.meta["schedule"],
                    let tick = stored.description.meta["tick_ms"].flatMap({ Int64($0) })
                else { throw TestFailure("\(record.id) is no tick's job") }
                jobs.append(Job(schedule: schedule, tick: tick, pushedAt: stored.readySince))
            }
            from = page.next
        }
        return jobs
    }
}

/// Processes with other clocks, by libfaketime.
private enum FakeTime {
    static let library: String? = {
        let places = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return places.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }.first {
            FileManager.default.fileExists(atPath: $0)
        }
    }()

    /// Timeouts are measured by the monotonic clock, which goes its way.
    static func environment(shiftedBy seconds: Int) -> [String: String] {
        [
            "LD_PRELOAD": library ?? "", "FAKETIME": "\(seconds < 0 ? "" : "+")\(seconds)s",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        ]
    }

    /// What a killed process left in shared memory.
    static func cleanUp(after pid: Int32) {
        for file in ["faketime_shm_\(pid)", "sem.faketime_sem_\(pid)"] { unlink("/dev/shm/" + file) }
    }

    /// What a process with a shifted clock takes for the time, in seconds since 1970.
    static func seconds(shiftedBy seconds: Int) throws -> Int {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/date")
        process.arguments = ["+%s"]
        process.environment = environment(shiftedBy: seconds)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        guard let number = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw TestFailure("date wrote \(text)")
        }
        return number
    }
}

import Errand
import ErrandRedis
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

/// Cases that need the data of a real server.
struct ScheduleEdgeTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private func put(_ name: String = "s", _ catchUp: Schedule.CatchUp = .latest, every seconds: Int = 1) async throws {
        let schedule = try Schedule(
            name,
            .every(.seconds(seconds)),
            pushing: OperationDescription("work"),
            catchUp: catchUp
        )
        try await broker.put(schedule)
    }

    private var ticker: Ticker { Ticker(broker, queue: "default", logger: Logger(label: "ticker")) }

    private func pushed() async throws -> Int { try await broker.status(of: "default").queue.totals["pushed"] }

    @Test(arguments: [(Schedule.CatchUp.none, 0), (.latest, 1), (.all(limit: 7), 7), (.all(limit: 1000), 91)])
    func hundredMissedTicksFollowThePolicy(_ catchUp: Schedule.CatchUp, _ expected: Int) async throws {
        defer { broker.close() }
        try await put("s", catchUp)
        let now = try await broker.dueSchedules(on: "default", skipping: 0).now
        let first = (now / 1000 - 100) * 1000
        try server.run("ZADD", key + "timetable", String(first), "s")
        let round = try await ticker.work()
        let record = try #require(try await broker.schedule("s", on: "default"))
        let last = try #require(record.lastTick)
        // At the time of this tick, 11 were at most 10 s late, or 10 of them.
        let all = Int((last - first) / 1000) + 1
        #expect(record.pushed + record.missed == all)
        #expect(record.pushed == round.pushed)
        // On a slow machine more ticks become due meanwhile.
        let later = max(0, Int((last - now) / 1000))
        #expect((expected + 10...expected + 13 + later).contains(record.pushed) || record.pushed == all)
        #expect(try await pushed() == record.pushed)
    }

    @Test func aCatchUpBeyondOneCallContinuesInTheNext() async throws {
        defer { broker.close() }
        try await put("s", .all(limit: 1000))
        let now = try await broker.dueSchedules(on: "default", skipping: 0).now
        let first = (now / 1000 - 1500) * 1000
        try server.run("ZADD", key + "timetable", String(first), "s")
        let round = try await ticker.work()
        #expect(round.pushed > 1000)
        let record = try #require(try await broker.schedule("s", on: "default"))
        let last = try #require(record.lastTick)
        #expect(record.pushed == round.pushed)
        #expect(record.pushed + record.missed == Int((last - first) / 1000) + 1)
        #expect(last >= now - 1000, "it has caught up")
    }

    @Test func anUnreadableDefinitionDoesNotAffectOthers() async throws {
        defer { broker.close() }
        for index in 0..<150 {
            try server.run("HSET", key + "schedules", "bad\(index)", index % 2 == 0 ? "garbage" : #"{"v":7}"#)
            try server.run("ZADD", key + "timetable", "5", "bad\(index)")
        }
        try await put("good")
        try await eventually("the good one ticks") { try await ticker.work().pushed > 0 }
        let newer = try Schedule("bad1", .every(.seconds(1)), pushing: OperationDescription("work"))
        let error = await #expect(throws: BrokerError.self) { try await broker.put(newer) }
        #expect(error?.code == .refused)
        #expect(try server.run("HGET", key + "schedules", "bad1") == #"{"v":7}"#, "it is kept")
        #expect(try await broker.schedules(on: "default").count == 151)
        let bad = try #require(try await broker.schedule("bad1", on: "default"))
        #expect(bad.problem?.code == .unsupportedVersion)
        #expect(try await broker.deleteSchedule("bad0", on: "default"))
    }

    @Test func aQueueHoldsTenThousandSchedules() async throws {
        defer { broker.close() }
        let fill = "for i = 1, 9999 do redis.call('HSET', KEYS[1], i, 'x') end"
        try server.run("EVAL", fill, "1", key + "schedules")
        try await put("last")
        let error = await #expect(throws: BrokerError.self) { try await put("oneMore") }
        #expect(error?.code == .full)
        try await put("last", .none)
    }

    @Test(arguments: ["-5", "-9000000000000000"]) func anInvalidNextTickDoesNotAffectOthers(
        _ tick: String
    ) async throws {
        defer { broker.close() }
        try await put("bad")
        try await put("good")
        try server.run("ZADD", key + "timetable", tick, "bad")
        try await eventually("the good one ticks") { try await ticker.work().pushed > 0 }
        #expect(try await broker.schedule("bad", on: "default")?.pushed == 0)
        // The remedy that the log recommends works.
        #expect(try await broker.pauseSchedule("bad", on: "default"))
        #expect(try await broker.resumeSchedule("bad", on: "default"))
        try await eventually("the bad one ticks again") {
            _ = try await ticker.work()
            return try await broker.schedule("bad", on: "default")?.pushed ?? 0 > 0
        }
    }

    @Test func keysOfAnotherTypeAreRejectedBeforeAnythingIsWritten() async throws {
        defer { broker.close() }
        try await put("s")
        try await eventually("it is due") {
            try await !broker.dueSchedules(on: "default", skipping: 0).schedules.isEmpty
        }
        try server.run("SET", key + "ready:5", "not a list")
        #expect(try await ticker.work().pushed == 0)
        #expect(try server.run("EXISTS", key + "body", key + "ticks") == "0")
        try server.run("DEL", key + "ready:5")
        #expect(try await ticker.work().pushed > 0)
    }

    @Test func aFullServerKeepsTheTickForLater() async throws {
        defer { broker.close() }
        try await put("s")
        let tick = try #require(try await broker.schedule("s", on: "default")?.nextTick)
        try await eventually("it is due") {
            try await !broker.dueSchedules(on: "default", skipping: 0).schedules.isEmpty
        }
        try server.run("CONFIG", "SET", "maxmemory", "1")
        #expect(try await ticker.work().pushed == 0)
        #expect(try await broker.pauseSchedule("s", on: "default"), "an operator can still pause it")
        try server.run("CONFIG", "SET", "maxmemory", "0")
        #expect(try server.run("EXISTS", key + "body") == "0")
        try server.run("ZADD", key + "timetable", String(tick), "s")
        #expect(try await ticker.work().pushed > 0)
    }

    @Test(.timeLimit(.minutes(6))) func anUnreadableScheduleIsNotPolledAgainAndAgain() async throws {
        defer { broker.close() }
        try server.run("HSET", key + "unscheduled", "s", "rubbish")
        try server.run("HSET", key + "schedules", "t", "")
        // Each of these was once polled again and again, because a comparison could never hold.
        try await put("s")
        try await put("t")
        #expect(try await broker.schedules(on: "default").allSatisfy { $0.schedule != nil })
    }

    @Test func deletedSchedulesAreForgottenAfterManyLaterDeletions() async throws {
        defer { broker.close() }
        func delete(_ name: String) async throws {
            try await put(name)
            _ = try await broker.deleteSchedule(name, on: "default")
        }
        func fill(_ count: Int, _ word: String) throws {
            for first in stride(from: 0, to: count, by: 1000) {
                let pairs = (first..<min(first + 1000, count)).flatMap { ["\(word)-\($0)", "0"] }
                try server.run(["HSET", key + "unscheduled"] + pairs)
            }
        }
        func outcome(_ name: String) async throws -> ScheduleOutcome {
            try await broker.put(Schedule(name, .every(.seconds(1)), pushing: OperationDescription("work")))
        }
        try await delete("asked")
        try fill(9998, "first")
        try await delete("early")
        #expect(try server.run("EXISTS", key + "unscheduled") == "0", "the generation was full")
        #expect(try server.run("HLEN", key + "unscheduled:old") == "10000")
        #expect(try await outcome("asked") == .outdated(storedRevision: 0))
        #expect(try server.run("HKEYS", key + "unscheduled") == "asked", "it is still needed")
        try fill(9998, "second")
        try await delete("late")
        #expect(try server.run("HLEN", key + "unscheduled:old") == "10000")
        #expect(try await outcome("asked") == .outdated(storedRevision: 0))
        #expect(try await outcome("late") == .outdated(storedRevision: 0))
        #expect(try await outcome("early") == .created)
    }

    @Test func aQueueInWhichNothingIsDuePaysOneExists() async throws {
        defer { broker.close() }
        _ = try await broker.promote(on: "default")
        try server.run("CONFIG", "RESETSTAT")
        for _ in 0..<10 { _ = try await broker.promote(on: "default") }
        let stats = try server.run("INFO", "commandstats").split(whereSeparator: \.isNewline)
        let exists = stats.first { $0.hasPrefix("cmdstat_exists:") } ?? ""
        #expect(exists.contains("calls=10,"), "\(stats)")
    }

    @Test(arguments: [false, true]) func aDeploymentDoesNotOverruleAConcurrentPauseOrResumption(
        isPaused: Bool
    ) async throws {
        defer { broker.close() }
        try await put()
        if isPaused { _ = try await broker.pauseSchedule("s", on: "default") }
        let proxy = try ChaosProxy(to: server)
        defer { proxy.close() }
        let deployer = try RedisBroker(
            RedisAddress(url: proxy.url),
            logger: Logger(label: "deployer"),
            overrides: BrokenScripts.overrides()
        )
        defer { deployer.close() }
        let held = Mutex(false)
        // The definition is held back after the decision.
        proxy.treat { request in
            request.contains("every-minute")
                && !held.withLock { was in
                    defer { was = true }; return was
                } ? .hold : .pass
        }
        let schedule = try Schedule("s", .every(.seconds(60)), pushing: OperationDescription("every-minute"))
        let deployment = Task { try await deployer.put(schedule) }
        try await eventually("the definition is under way") { proxy.heldRequests == 1 }
        if isPaused {
            _ = try await broker.resumeSchedule("s", on: "default")
        } else {
            _ = try await broker.pauseSchedule("s", on: "default")
        }
        proxy.release()
        #expect(try await deployment.value == .changed)
        let record = try #require(try await broker.schedule("s", on: "default"))
        #expect(record.isPaused == !isPaused)
        #expect(record.schedule == schedule)
        // After the resumption it ticks with its new timing.
        if isPaused { #expect(record.nextTick.map { $0 % 60_000 } == 0) }
        #expect(try await broker.audit("default", repair: false) == [])
    }
}

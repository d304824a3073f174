import Foundation
import Logging
import Testing

@testable import Errand

@Suite("Schedules: definitions")
struct ScheduleDefinitionTests {
    private static func template(
        _ unique: UniquenessPolicy? = nil,
        id: String? = nil,
        due: Int64? = nil
    ) throws
        -> OperationDescription
    {
        try OperationDescription(
            "report",
            arguments: ["year": 2026],
            queue: "reports",
            unique: unique,
            notBefore: due,
            id: id
        )
    }

    @Test("written definitions are read back byte by byte")
    func roundTrip() throws {
        let timings: [ScheduleTiming] = [
            try .cron("*/5 8-18 * * mon-fri", timeZone: "Europe/Berlin"), try .cron("@daily"), try .every(.seconds(90)),
            try .every(.milliseconds(1500), anchor: 1_795_215_724_000),
        ]
        for timing in timings {
            for catchUp in [Schedule.CatchUp.none, .latest, .all(limit: 7)] {
                for overlap in Schedule.Overlap.allCases {
                    let schedule = try Schedule(
                        "nightly.report-1",
                        timing,
                        pushing: Self.template(),
                        catchUp: catchUp,
                        overlap: overlap,
                        revision: 12
                    )
                    let read = try Schedule(json: schedule.encoded())
                    #expect(read == schedule)
                    #expect(read.encoded() == schedule.encoded())
                    #expect(read.queue == "reports")
                }
            }
        }
    }

    @Test("the vectors of docs/schema")
    func vectors() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../../docs/schema/vectors"
        )
        struct Vector: Decodable {
            let name: String
            let json: String
            let field: String?
        }
        func read(_ file: String) throws -> [Vector] {
            try JSONDecoder().decode([Vector].self, from: Data(contentsOf: root.appending(path: file)))
        }
        let (valid, invalid) = (try read("schedules-valid.json"), try read("schedules-invalid.json"))
        #expect(valid.count >= 4 && invalid.count >= 15)
        for vector in valid {
            let schedule = try Schedule(json: vector.json.utf8)
            #expect(try Schedule(json: schedule.encoded()) == schedule, "\(vector.name)")
        }
        for vector in invalid {
            let error = #expect(throws: ScheduleError.self, "\(vector.name)") { try Schedule(json: vector.json.utf8) }
            #expect(error?.field == vector.field, "\(vector.name): \(error?.description ?? "")")
        }
    }

    @Test("a newer version is distinguished from invalid data")
    func newerVersion() throws {
        let error = #expect(throws: ScheduleError.self) { try Schedule(json: #"{"v":2,"whatever":[1]}"#.utf8) }
        #expect(error?.code == .unsupportedVersion)
        #expect(throws: ScheduleError.self) { try Schedule(json: "nonsense".utf8) }
    }

    @Test("invalid schedules are rejected")
    func refused() throws {
        let timing = try ScheduleTiming.every(.seconds(60))
        for name in ["", "a b", "a:b", "ä", String(repeating: "a", count: 129)] {
            #expect(throws: ScheduleError.self) { try Schedule(name, timing, pushing: Self.template()) }
        }
        for wrong in [try Self.template(id: "mine"), try Self.template(due: 5)] {
            #expect(throws: ScheduleError.self) { try Schedule("s", timing, pushing: wrong) }
        }
        for limit in [0, -1, 1001] {
            #expect(throws: ScheduleError.self) {
                try Schedule("s", timing, pushing: Self.template(), catchUp: .all(limit: limit))
            }
        }
        #expect(throws: ScheduleError.self) { try Schedule("s", timing, pushing: Self.template(), revision: -1) }
        #expect(throws: ScheduleError.self) { try Schedule("s", timing, pushing: Self.template(.drop), overlap: .skip) }
        #expect(throws: Never.self) { try Schedule("s", timing, pushing: Self.template(.drop), overlap: .allow) }
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        let tooDeep = try OperationDescription("work", arguments: JSONText(validating: deep.utf8))
        #expect(throws: ScheduleError.self) { try Schedule("s", timing, pushing: tooDeep) }
    }

    @Test("random bytes and damaged definitions are parsed or rejected without a trap")
    func fuzz() throws {
        var generator = SystemRandomNumberGenerator()
        let whole = try Schedule("s", .cron("1 2 * * *", timeZone: "Europe/Berlin"), pushing: Self.template()).encoded()
        var refused = 0
        for _ in 0..<3000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8(ascii: "9"), at: place)
                }
            }
            do { _ = try Schedule(json: bytes).timing.next(after: 0) } catch { refused += 1 }
        }
        #expect(refused > 1000)
    }

    @Test("a tick's job: its id, its name and its parameters")
    func jobs() throws {
        let meta = try OperationDescription("report", queue: "reports", meta: ["traceparent": "x"])
        let schedule = try Schedule("a.b", .every(.seconds(60)), pushing: meta, overlap: .skip)
        let id = schedule.id(ofTick: 1_795_215_724_000)
        #expect(id == schedule.id(ofTick: 1_795_215_724_000))
        #expect(id != schedule.id(ofTick: 1_795_215_784_000))
        #expect(id != (try Schedule("a-b", .every(.seconds(60)), pushing: meta)).id(ofTick: 1_795_215_724_000))
        #expect(QueueName.isValid(jobID: id))
        let job = try schedule.job(id: id, tick: 1_795_215_724_000)
        #expect(job.policy == .drop)
        #expect(job.name == "schedule a.b")
        #expect(job.queue == "reports")
        #expect(job.notBefore == 0)
        let read = try JobEnvelope.read(stored: job.stored(readySince: 0)).description
        #expect(read.meta == ["traceparent": "x", "schedule": "a.b", "tick_ms": "1795215724000"])
    }
}

@Suite("Schedules: which ticks are pushed")
struct TickPlanTests {
    private func schedule(_ catchUp: Schedule.CatchUp, _ timing: ScheduleTiming? = nil) throws -> Schedule {
        try Schedule("s", timing ?? .every(.seconds(1)), pushing: OperationDescription("work"), catchUp: catchUp)
    }

    @Test("ticks up to 10 s late are all pushed, whatever the policy")
    func timely() throws {
        for catchUp in [Schedule.CatchUp.none, .latest, .all(limit: 1)] {
            let plan = try schedule(catchUp).plan(expected: 100_000, now: 109_999)
            #expect(
                plan
                    == TickPlan(
                        ticks: Array(stride(from: 100_000, through: 109_000, by: 1000)),
                        next: 110_000,
                        missed: 0
                    )
            )
        }
    }

    @Test("100 ticks missed: none, the newest, the newest few, all")
    func catchUp() throws {
        // The last 11 are at most 10 s late; 90 are missed.
        let timely = Array(stride(from: Int64(190_000), through: 200_000, by: 1000))
        #expect(
            try schedule(.none).plan(expected: 100_000, now: 200_000)
                == TickPlan(ticks: timely, next: 201_000, missed: 90)
        )
        #expect(
            try schedule(.latest).plan(expected: 100_000, now: 200_000)
                == TickPlan(ticks: [189_000] + timely, next: 201_000, missed: 89)
        )
        #expect(
            try schedule(.all(limit: 3)).plan(expected: 100_000, now: 200_000)
                == TickPlan(ticks: [187_000, 188_000, 189_000] + timely, next: 201_000, missed: 87)
        )
        let all = Array(stride(from: Int64(100_000), through: 200_000, by: 1000))
        #expect(
            try schedule(.all(limit: 90)).plan(expected: 100_000, now: 200_000)
                == TickPlan(ticks: all, next: 201_000, missed: 0)
        )
        #expect(try schedule(.all(limit: 1000)).plan(expected: 100_000, now: 200_000).ticks == all)
    }

    @Test("a missed daily tick is pushed once when a worker runs again")
    func daily() throws {
        let timing = try ScheduleTiming.cron("30 2 * * *", timeZone: "Europe/Berlin")
        let (expected, now) = (try ms("2026-03-27T01:30:00Z"), try ms("2026-03-29T07:00:00Z"))
        let latest = try schedule(.latest, timing).plan(expected: expected, now: now)
        #expect(latest.ticks.map(utc) == ["2026-03-29T01:00:00Z"])
        #expect(latest.missed == 2)
        #expect(try #require(latest.next) == ms("2026-03-30T00:30:00Z"))
        #expect(try schedule(.none, timing).plan(expected: expected, now: now).ticks == [])
    }

    @Test("a clock ten years ahead costs a bounded number of steps")
    func farForward() throws {
        let tenYears: Int64 = 315_360_000_000
        for timing in [try ScheduleTiming.every(.seconds(1)), try .cron("* * * * * *", timeZone: "Europe/Berlin")] {
            let begin = ContinuousClock.now
            let plan = try schedule(.all(limit: 1000), timing).plan(
                expected: 1_795_215_724_000,
                now: 1_795_215_724_000 + tenYears
            )
            #expect(plan.ticks.count == 1011)
            #expect(plan.missed == TickPlan.mostMissed)
            #expect(plan.next == 1_795_215_725_000 + tenYears)
            #expect(ContinuousClock.now - begin < .seconds(5))
        }
    }

    @Test("a stored tick that this zone data does not have does no harm")
    func strangeExpected() throws {
        let plan = try schedule(.latest, try .cron("0 0 1 1 *")).plan(
            expected: 1_795_215_724_123,
            now: 1_795_215_725_000
        )
        #expect(plan.ticks == [])
        #expect(try #require(plan.next) > 1_795_215_725_000)
    }
}

@Suite("Schedules: the broker's clock is set")
struct ScheduleClockTests {
    final class Clock: Sendable {
        private let box = Locked(Int64(1_795_215_724_500))
        var now: Int64 { box.value }
        func set(_ time: Int64) { box.value = time }
    }

    final class Locked: @unchecked Sendable {  // The lock guards the value.
        private let lock = NSLock()
        private var stored: Int64
        init(_ value: Int64) { stored = value }
        var value: Int64 {
            get { lock.withLock { stored } }
            set { lock.withLock { stored = newValue } }
        }
    }

    private func pushed(_ broker: MemoryBroker) async throws -> Int {
        try await broker.status(of: "q").queue.totals["pushed"]
    }

    @Test("set back, no tick is repeated; set forward by years, the policy applies; a resumed schedule starts from now")
    func clockJumps() async throws {
        let clock = Clock()
        let broker = MemoryBroker(now: { clock.now })
        let ticker = Ticker(broker, queue: "q", logger: Logger(label: "t"))
        let schedule = try Schedule("s", .every(.seconds(60)), pushing: OperationDescription("work", queue: "q"))
        #expect(try await broker.put(schedule) == .created)
        clock.set(clock.now + 60_000)
        #expect(try await ticker.work().pushed == 1)
        #expect(try await ticker.work().pushed == 0)
        let before = clock.now
        clock.set(before - 3_600_000)
        #expect(try await ticker.work().pushed == 0)
        // A changed timing continues after the last tick, not from the earlier time.
        let changed = try Schedule("s", .every(.seconds(30)), pushing: OperationDescription("work", queue: "q"))
        #expect(try await broker.put(changed) == .changed)
        #expect(try #require(try await broker.schedule("s", on: "q")?.nextTick) > before - 60_000)
        clock.set(before + 315_360_000_000)
        let round = try await ticker.work()
        #expect((1...2).contains(round.pushed), "the newest missed one, and at most one that is timely")
        // The clock is corrected: the next tick is not ten years away.
        clock.set(before)
        _ = try await broker.pauseSchedule("s", on: "q")
        #expect(try await broker.resumeSchedule("s", on: "q"))
        #expect(try #require(try await broker.schedule("s", on: "q")?.nextTick) <= before + 30_000)
    }

    @Test("an unreadable definition stays and does not affect the others")
    func unreadable() async throws {
        var queue = MemoryQueue(name: "q")
        queue.beginTransition(at: 1_795_215_724_500)
        queue.schedules["a"] = MemorySchedule(definition: Array(#"{"v":9}"#.utf8), nextTick: 5)
        let newer = try Schedule("a", .every(.seconds(1)), pushing: OperationDescription("work", queue: "q"))
        #expect(throws: BrokerError.self) { try queue.put(newer) }
        #expect(queue.record(ofSchedule: "a").problem?.code == .unsupportedVersion)
        queue.schedules["a"]?.definition = Array("garbage".utf8)
        #expect(try queue.put(newer) == .changed, "nonsense is no newer version")
    }
}

import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// Audits and repairs of schedules.
struct ScheduleAuditTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private func schedule(_ name: String) throws -> Schedule { try FullQueue.schedule(name) }

    private func audit(repair: Bool = false) async throws -> [Finding] {
        try await broker.audit("default", repair: repair)
    }

    @Test func `an unreadable definition is moved aside, and a worker that declares it restores it`()
        async throws
    {
        defer { broker.close() }
        try await broker.put(schedule("nightly"))
        for garbage in ["{ half a definit", "garbage"] {
            try server.run("HSET", key + "schedules", "nightly", garbage)
            let found = try await audit(repair: true)
            #expect(found.map(\.kind) == ["schedule_unreadable"] && found.allSatisfy(\.repaired))
            #expect(try await audit() == [])
            #expect(try await broker.put(schedule("nightly")) == .created)
        }
        let kept = try server.run("HVALS", key + "corrupt:definitions").split(whereSeparator: \.isNewline)
        #expect(kept.sorted() == ["garbage", "{ half a definit"], "the second repair threw the first definition away")
        let names = try server.run("HKEYS", key + "corrupt:definitions").split(whereSeparator: \.isNewline)
        #expect(names.allSatisfy { $0.hasPrefix("nightly ") })
        #expect(try await audit() == [])
    }

    @Test func `a definition of a newer version is no finding`() async throws {
        defer { broker.close() }
        try server.run("HSET", key + "schedules", "newer", #"{"v":7}"#)
        #expect(try await audit(repair: true) == [])
        #expect(try server.run("HGET", key + "schedules", "newer") == #"{"v":7}"#)
    }

    @Test func `a lost timetable is found, and repaired by a worker that starts, or by an audit`() async throws {
        defer { broker.close() }
        for name in ["declared", "another"] { try await broker.put(schedule(name)) }
        let before = try await broker.schedules(on: "default")
        try server.run("DEL", key + "timetable")
        #expect(try await audit().map(\.subject).sorted() == ["another", "declared"])
        #expect(try await broker.put(schedule("declared")) == .unchanged)
        #expect(try await audit(repair: true).map(\.subject) == ["another"])
        #expect(try await audit() == [])
        #expect(try await broker.schedules(on: "default") == before)
    }

    @Test func `a paused schedule stays paused`() async throws {
        defer { broker.close() }
        try await broker.put(schedule("paused"))
        _ = try await broker.pauseSchedule("paused", on: "default")
        #expect(try await audit(repair: true) == [])
        #expect(try await broker.put(schedule("paused")) == .unchanged)
        #expect(try await broker.schedule("paused", on: "default")?.isPaused == true)
    }

    @Test func `a schedule whose pause was corrupted does not tick until it is resumed`() async throws {
        defer { broker.close() }
        for name in ["paused", "ticking"] { try await broker.put(schedule(name)) }
        _ = try await broker.pauseSchedule("paused", on: "default")
        try server.run("DEL", key + "pauses")
        try server.run("SET", key + "pauses", "corrupt")
        let found = try await audit(repair: true)
        #expect(found.map(\.kind) == ["pause_unknown", "wrong_type"] && found.allSatisfy(\.repaired), "\(found)")
        #expect(found.first?.subject == "paused")
        for name in ["paused", "ticking"] {
            #expect(try await broker.schedule(name, on: "default")?.isPaused == (name == "paused"))
        }
        #expect(try await audit() == [])
    }

    @Test func `a corrupt key of schedules does not affect the jobs`() async throws {
        defer { broker.close() }
        for key in ["schedules", "timetable", "pauses", "ticks", "unscheduled", "unscheduled:old"] {
            try server.run("SET", self.key + key, "corrupt")
        }
        let due = try OperationDescription("work", notBefore: 1_000_000_000_000, id: "due").makeEnvelope()
        _ = try await broker.push([due], to: "default")
        let later = try OperationDescription("work", notBefore: 4_000_000_000_000, id: "later").makeEnvelope()
        _ = try await broker.push([later], to: "default")
        try server.run("ZADD", key + "scheduled", "1", "later")
        #expect(try await broker.promote(on: "default").promoted == 1)
        #expect(try await broker.status(of: "default").queue.ready == 2)
        let found = try await audit()
        #expect(found.allSatisfy { $0.kind == "wrong_type" } && found.count == 6, "\(found)")
        #expect(try await audit(repair: true).allSatisfy(\.repaired))
        #expect(try await audit() == [])
    }

    @Test func `thousands of schedules are looked at in pages`() async throws {
        defer { broker.close() }
        let definition = String(decoding: try schedule("s").encoded(), as: UTF8.self)
        for first in stride(from: 0, to: 3000, by: 500) {
            let pairs = (first..<first + 500).flatMap { ["s\($0)", definition] }
            try server.run(["HSET", key + "schedules"] + pairs)
        }
        try server.run("CONFIG", "RESETSTAT")
        let found = try await audit(repair: true)
        #expect(found.count == 101 && found.last?.subject == "and 2900 more" && found.allSatisfy(\.repaired))
        #expect(try server.run("ZCARD", key + "timetable") == "3000")
        #expect(try await audit() == [])
    }
}

import Errand
import Foundation
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// Corrupt data of every kind is found, repaired, and not found again; no job with a body is lost.
@Suite struct AuditTests {
    private static let Q = "errand:{default}"

    /// Every key of a full queue, and the findings that its loss may cause: none if only counts were lost.
    private static let losses: [(key: String, kinds: Set<String>)] =
        [
            ("body", ["position_without_body", "name_without_job"]),
            ("ready:5", ["body_without_position"]), ("ready:9", ["body_without_position"]),
            ("quarantined", ["body_without_position"]),
            ("unroutable:unknown", ["body_without_position", "unroutable_without_list"]),
            ("unroutable", ["unroutable_unlisted"]),
            ("scheduled", ["body_without_position"]), ("retrying", ["body_without_position"]),
            ("dead", ["body_without_position"]),
            ("sessions", ["claims_without_session"]), ("session:sessionA", ["session_unknown"]),
            ("claims:sessionA", ["body_without_position", "running_without_claim"]),
            ("unique", ["name_not_held"]), ("unique:of", ["holder_unaware"]), ("running", ["claim_not_running"]),
            ("successors", ["body_without_position", "name_not_held"]), ("stops", ["successor_without_stop"]),
            ("alias", ["alias_of_without_alias"]), ("alias:of", ["alias_without_owner"]), ("tombstones", []),
            ("history:order", ["history_without_order"]), ("history", []), ("failures", []), ("crashes", []),
            ("errors", []), ("progress", []), ("checkpoints", []),
            ("ended", []), ("counters", []), ("runtime", ["token_forgotten"]), ("idle", []), ("settings", []),
            ("stream", []), ("cursors", []),
            ("backlog", ["group_unlisted"]), ("held_back", ["group_not_found"]), ("flow", ["group_held_back"]),
        ] + schedules

    /// Keys of single groups, which scripts treat as missing if their type is wrong.
    private static let groups: [(key: String, kinds: Set<String>)] = [
        ("group:5:full", ["body_without_position", "group_without_jobs"]),
        ("group:5:a/x", ["body_without_position", "group_without_jobs"]),
        ("groups:5", ["group_not_found"]), ("groups:5:a", ["group_not_found"]), ("held:full", ["claim_without_slot"]),
    ]

    private static let schedules: [(key: String, kinds: Set<String>)] = [
        ("schedules", ["tick_without_schedule", "pause_without_schedule", "ticks_without_schedule"]),
        ("timetable", ["schedule_without_tick"]), ("pauses", ["schedule_without_tick"]), ("ticks", []),
        ("unscheduled", []),
    ]

    private func broker(_ server: RedisServer) throws -> RedisBroker {
        RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "audit"))
    }

    @Test func `a full queue in every state is clean`() async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        #expect(try await stage.broker.audit("default", repair: false) == [])
        let keys = try stage.server.run("KEYS", Self.Q + ":*").split(whereSeparator: \.isNewline)
        let held = Set(keys.map { $0.dropFirst(Self.Q.count + 1) })
        // The keys that the tests below remove must exist.
        for (key, _) in Self.losses + Self.groups {
            #expect(held.contains(key[...]), "no key \(key): \(held.sorted())")
        }
    }

    @Test(arguments: groups.map(\.key)) func `a key of a group that has the wrong type is repaired`(
        key: String
    ) async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        try corrupt(key, on: stage)
        _ = try await stage.broker.promote(on: "default")
        try await mend(stage, ["wrong_type"], key)
        #expect(try stage.server.run("GET", "\(Self.Q):corrupt:\(key)") == "corrupt")
    }

    @Test(arguments: (losses + groups).map(\.key)) func `a lost key is found and repaired`(key: String) async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        try stage.server.run("DEL", "\(Self.Q):\(key)")
        let expected = try #require((Self.losses + Self.groups).first { $0.key == key }).kinds
        try await mend(stage, expected, key)
    }

    @Test(arguments: losses.map(\.key)) func `a key of the wrong type stops scripts before they write, and is repaired`(
        key: String
    ) async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        try corrupt(key, on: stage)
        let before = try stage.dump()
        let isRefused =
            Self.schedules.contains { $0.key == key }
            ? await stage.tryEverythingOfSchedules()
            : await stage.tryEverything(with: key)
        let after = try stage.dump()
        #expect(after == before, "a script wrote before it failed")
        #expect(isRefused)
        try await mend(stage, ["wrong_type"], key)
        #expect(try stage.server.run("GET", "\(Self.Q):corrupt:\(key)") == "corrupt")
    }

    /// Gives a key a type that it does not have.
    private func corrupt(_ key: String, on stage: FullQueue) throws {
        try stage.server.run("DEL", "\(Self.Q):\(key)")
        try stage.server.run("SET", "\(Self.Q):\(key)", "corrupt")
    }

    /// Checks that the finding is repaired and does not recur, and that every job with a body then ends.
    private func mend(_ stage: FullQueue, _ expected: Set<String>, _ key: String) async throws {
        let found = Set(try await stage.broker.audit("default", repair: false).map(\.kind))
        #expect(found.isSuperset(of: expected), "\(key): \(found.sorted()), expected \(expected.sorted())")
        if expected.isEmpty { #expect(found.isSubset(of: ["position_without_body"]), "\(key): \(found)") }
        let mended = try await stage.broker.audit("default", repair: true)
        let unmended = mended.filter { !$0.repaired }
        #expect(unmended.isEmpty, "\(unmended)")
        let after = try await stage.broker.audit("default", repair: false)
        #expect(after.isEmpty, "\(key): not clean after the repair: \(after.map { $0.kind + " " + $0.subject })")
        let mayBePaused = expected.contains("wrong_type") && key == "settings"
        #expect(try await stage.broker.status(of: "default").queue.isPaused == mayBePaused)
        if mayBePaused { try await stage.broker.configure("default", QueueSettings(isPaused: false)) }
        let left = try await stage.drain()
        #expect(left.isEmpty, "\(key): stuck: \(left)")
        let drained = try await stage.broker.audit("default", repair: false)
        #expect(drained.isEmpty, "\(key): not clean after the drain: \(drained.map { $0.kind + " " + $0.subject })")
    }

    /// Commands that damage the full queue, and what is then found.
    private static let breaks: [(words: [String], kind: String)] =
        [
            (["RPUSH", "ready:5", "plain"], "several_places"), (["ZADD", "scheduled", "1", "plain"], "several_places"),
            (["RPUSH", "ready:3", "no such job"], "position_without_body"),
            (["HSET", "unique", "x", "nobody"], "lock_without_holder"),
            (["HSET", "claims:sessionA", "running", "rubbish"], "claim_unreadable"),
            (["HSET", "tombstones", "nothing", "3"], "tombstone_without_entry"),
            (["HSET", "stops", "nobody", "cancel"], "stops_without_job"),
            (["HSET", "failures", "nobody", "1"], "failures_without_job"),
            (["HSET", "crashes", "nobody", "1"], "crashes_without_job"),
            (["HSET", "solo_crashes", "nobody", "1"], "solo_crashes_without_job"),
            (["HSET", "errors", "nobody", "x"], "errors_without_job"),
            (["HSET", "progress", "nobody", "x"], "progress_without_job"),
            (["HSET", "checkpoints", "nobody", "x"], "checkpoints_without_job"),
            (["HSET", "debounced", "nobody", "1"], "debounced_without_job"),
            (["ZADD", "backlog", "7", "5:full"], "group_miscounted"),
            (["ZADD", "backlog", "1", "5:none"], "group_without_jobs"),
            (["ZADD", "backlog", "1", "rubbish"], "group_without_jobs"),
            (["ZADD", "groups:5", "1", "none"], "group_without_jobs"),
            (["ZREM", "groups:5", "a"], "group_not_found"), (["HDEL", "held_back", "full"], "group_not_found"),
            (["HSET", "held_back", "none", "5"], "group_held_back"),
            (["SADD", "held:full", "nobody"], "slot_without_claim"),
            (["SREM", "held:full", "full-1"], "claim_without_slot"),
            (["HSET", "throttled", "x", "rubbish"], "window_unreadable"),
            (["HSET", "throttled", "x", "1:9000000000000:nobody"], "window_without_end"),
            (["ZADD", "throttled:ends", "1", "x"], "end_without_window"),
            (["HSET", "alias:of", "nobody", "x"], "alias_of_without_job"),
            (["HSET", "unique:of", "nobody", "x"], "name_without_job"),
            (["HSET", "running", "nobody", "sessionA"], "running_without_job"),
            (["SADD", "idle", "absent"], "idle_without_session"),
            (["HSET", "successors", "nobody", "0:plain"], "successor_without_job"),
            (["HSET", "unroutable", "unknown", "7"], "unroutable_miscounted"),
            (["ZADD", "sessions", "9000000000000000", "sessionA"], "lease_endless"),
            (["HSET", "runtime", "grace", "9000000000000000"], "grace_endless"),
            (["HDEL", "unique:of", "holder"], "holder_unaware"),
            (["HDEL", "running", "holder"], "claim_not_running"),
            (["HSET", "schedules", "ticking", "garbage"], "schedule_unreadable"),
            (["HSET", "schedules", "ticking", ""], "schedule_unreadable"),
            (["HSET", "schedules", "no name", "garbage"], "schedule_unreadable"),
            (["ZREM", "timetable", "ticking"], "schedule_without_tick"),
            (["ZADD", "timetable", "9000000000000", "ticking"], "tick_far_ahead"),
            (["ZADD", "timetable", "inf", "ticking"], "tick_far_ahead"),
            (["ZADD", "timetable", "5", "none"], "tick_without_schedule"),
            (["ZADD", "timetable", "5", "paused"], "schedule_paused_and_due"),
            (["HSET", "pauses", "none", "5"], "pause_without_schedule"),
            (["HSET", "ticks", "none", "5:1:0"], "ticks_without_schedule"),
            (["HSET", "ticks", "ticking", "often"], "ticks_unreadable"),
            (["HSET", "unscheduled", "deleted", "the last"], "deletion_unreadable"),
            (["HSET", "unscheduled:old", "ticking", "5"], "deletion_of_schedule"),
        ]

    @Test func `invalid values are found and repaired`() async throws {
        for (words, kind) in Self.breaks {
            let stage = try await FullQueue()
            defer { stage.broker.close() }
            try stage.server.run([words[0], "\(Self.Q):\(words[1])"] + words.dropFirst(2))
            let found = try await stage.broker.audit("default", repair: false)
            #expect(found.contains { $0.kind == kind && !$0.repaired }, "\(words): \(found.map(\.kind))")
            #expect(
                found.allSatisfy { $0.message != "a kind of damage that this version does not know; update errand" },
                "\(found)"
            )
            _ = try await stage.broker.audit("default", repair: true)
            #expect(try await stage.broker.audit("default", repair: false) == [], "\(words)")
        }
    }

    @Test func `the documentation names every kind of finding`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let page = try String(contentsOf: root.appending(path: "docs/redis.md"), encoding: .utf8)
        let missing = FindingExplanations.texts.keys.filter { !page.contains("`\($0)`") }
        #expect(missing.isEmpty, "describe them in the table of findings: \(missing.sorted())")
    }

    @Test func `a scheduled job that lost its position is scheduled again`() async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        try stage.server.run("DEL", "\(Self.Q):scheduled")
        _ = try await stage.broker.audit("default", repair: true)
        #expect(try await stage.broker.inspect(["later"], on: "default").first??.state == .scheduled)
    }

    @Test func `an entry without a body becomes a dead job`() async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        try stage.server.run("RPUSH", "\(Self.Q):ready:3", "no-such-job")
        _ = try await stage.broker.audit("default", repair: true)
        #expect(try await stage.broker.inspect(["no-such-job"], on: "default").first??.state == .dead)
    }

    @Test func `a deleted queue leaves no key`() async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        // Keys that a repair has moved aside, keys of a lost session, and keys of another type.
        try stage.server.run("SET", "\(Self.Q):corrupt:body:17", "aside")
        try stage.server.run("HSET", "\(Self.Q):claims:session-gone", "a", "1:1")
        try stage.server.run("HSET", "\(Self.Q):session:session-gone", "host", "h")
        try stage.server.run("RPUSH", "\(Self.Q):unroutable:unlisted", "a")
        let refusal = try await stage.broker.deleteQueue("default", force: false)
        guard case .inUse(let jobs, 1, let schedules) = refusal else { throw TestFailure("\(refusal)") }
        #expect(jobs > 0 && schedules > 0)
        for key in ["idle", "ready:9", "schedules"] {
            try stage.server.run("DEL", "\(Self.Q):\(key)")
            try stage.server.run("SET", "\(Self.Q):\(key)", "of another type")
        }
        await #expect(throws: BrokerError.self) { try await stage.broker.deleteQueue("default", force: false) }
        try stage.server.run("SET", "errand:{default2}:body", "another queue's")
        #expect(try await stage.broker.deleteQueue("default", force: true) == .deleted(jobs: jobs))
        let left = try stage.server.run("KEYS", "*").split(whereSeparator: \.isNewline)
        #expect(left == ["errand:{default2}:body"])
        #expect(try await stage.broker.deleteQueue("default", force: true) == .notFound)
    }

    @Test func `a registered queue without keys can be deleted`() async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        try stage.server.run("SADD", "errand:queues", "ghost")
        #expect(try await stage.broker.deleteQueue("ghost", force: false) == .deleted(jobs: 0))
        #expect(try await stage.broker.queues() == ["default"])
    }

    @Test func `a lost registry is found and repaired`() async throws {
        let stage = try await FullQueue()
        defer { stage.broker.close() }
        try stage.server.run("DEL", "errand:queues")
        #expect(try await stage.broker.auditRegistry(repair: true).map(\.queue) == ["default"])
        #expect(try await stage.broker.queues() == ["default"])
        #expect(try await stage.broker.auditRegistry(repair: false) == [])
    }

    @Test func `of many findings of a kind some are listed and the others counted`() async throws {
        let server = try RedisServer()
        let broker = try broker(server)
        defer { broker.close() }
        let jobs = try (0..<1300).map { _ in try OperationDescription("work").makeEnvelope() }
        _ = try await broker.push(jobs, to: "default")
        try server.run("DEL", "\(Self.Q):ready:5")
        let found = try await broker.audit("default", repair: true)
        #expect(found.count == 101 && found.last?.subject == "and 1200 more" && found.allSatisfy(\.repaired))
        #expect(try server.run("LLEN", "\(Self.Q):ready:5") == "1300")
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func `a queue in heavy use is clean`() async throws {
        let server = try RedisServer()
        let broker = try broker(server)
        defer { broker.close() }
        let jobs = try (0..<5000).map { _ in try OperationDescription("work").makeEnvelope() }
        _ = try await broker.push(jobs, to: "default")
        let use = Task {
            let own = try self.broker(server)
            defer { own.close() }
            return try await FullQueue.churn(own)
        }
        for _ in 0..<5 { #expect(try await broker.audit("default", repair: false) == []) }
        use.cancel()
        let count = try await use.value
        #expect(count > 100)
    }
}

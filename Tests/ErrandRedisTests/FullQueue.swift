import Errand
import Foundation
import TestSupport

@testable import ErrandRedis

/// A queue that has something in every key of the data model.
struct FullQueue {
    let server: RedisServer
    let broker: RedisBroker
    static let session = session("sessionA")

    static func session(_ id: String) -> Session {
        Session(
            id: id,
            host: "here",
            pid: 1,
            concurrency: 8,
            queues: ["default"],
            lease: .seconds(60),
            operations: ["work": OperationDefaults(retries: 0)]
        )
    }

    init() async throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
        try await fill()
    }

    private func fill() async throws {
        try await broker.createQueue("default")
        try await broker.configure("default", QueueSettings(keptEvents: 1000))
        try await broker.keep(EventCursor(epoch: 1, number: 1), of: "reader", on: "default")
        try await broker.register(Self.session, on: "default")
        var calls = Calls(broker: broker, session: Self.session)
        // A finished job with a result, a retrying one, a dead one, and an unroutable one.
        try await push("done"); try await push("retry"); try await push("dead"); try await push("unroutable", "unknown")
        let claims = try await calls.claim(4)
        for claim in claims {
            switch claim.id {
            case "done": try await calls.report(claim, .finished, result: "out")
            case "retry": try await calls.report(claim, .failed, delay: 3_600_000)
            case "dead": try await calls.report(claim, .failed)
            default: try await calls.report(claim, .unroutable)
            }
        }
        // A running job with a successor.
        try await push("holder", name: "name")
        try await push("running")
        for claim in try await calls.claim(2) {
            let note = JobUpdate(id: claim.id, token: claim.token, progress: JobProgress(0.5), checkpoint: [0x31])
            _ = try await broker.update(note, of: Self.session, on: "default")
        }
        try await fillGroups(&calls)
        try await push("successor", name: "name")
        try await push("plain")
        try await push("urgent", priority: 9)
        try await push("later", notBefore: Int64(Date().timeIntervalSince1970 * 1000) + 3_600_000)
        // An alias in a ready list, and a tombstone in a long one.
        try await push("old", name: "other")
        try await push("new", name: "other")
        try await fillReadyList()
        try server.run("HSET", "errand:{default}:crashes", "quarantined-job", "3")
        try await push("quarantined-job", notBefore: 1)
        try server.run("LREM", "errand:{default}:ready:5", "0", "quarantined-job")
        try server.run("RPUSH", "errand:{default}:quarantined", "quarantined-job")
        try server.run("SADD", "errand:{default}:idle", Self.session.id)
        try await broker.configure("default", QueueSettings(maximumLength: 100_000))
        try await fillSchedules()
    }

    /// Adds a group that is full, with a job that runs and one that waits, and a group of two parts.
    private func fillGroups(_ calls: inout Calls) async throws {
        try await broker.setFlow("default", matching: "full", FlowRule(atOnce: 1))
        try await push("full-1", group: "full")
        _ = try await calls.claim(1)
        for id in ["full-2", "full-3"] { try await push(id, group: "full") }
        try await push("second", group: "a/x")
    }

    /// Adds a schedule that ticks, a paused one and a deleted one.
    private func fillSchedules() async throws {
        for name in ["ticking", "paused", "deleted"] { try await broker.put(try Self.schedule(name)) }
        _ = try await broker.pauseSchedule("paused", on: "default")
        _ = try await broker.deleteSchedule("deleted", on: "default")
        try server.run("HSET", "errand:{default}:ticks", "ticking", "1700000000000:3:1")
    }

    static func schedule(_ name: String, revision: Int = 0) throws -> Schedule {
        try Schedule(name, .every(.seconds(3600)), pushing: OperationDescription("work"), revision: revision)
    }

    /// Makes the ready list so long that a cancelled job leaves a tombstone.
    private func fillReadyList() async throws {
        let jobs = try (0..<1001).map { try OperationDescription("work", priority: 1, id: "line-\($0)").makeEnvelope() }
        _ = try await broker.push(jobs, to: "default")
        _ = try await broker.cancel(["line-500"], on: "default")
    }

    private func push(
        _ id: String,
        _ operation: String = "work",
        name: String? = nil,
        priority: Int? = nil,
        group: String? = nil,
        notBefore: Int64? = nil
    ) async throws {
        let job = try OperationDescription(
            operation,
            name: name,
            unique: name == nil ? nil : .replace,
            notBefore: notBefore,
            priority: priority,
            group: group,
            id: id
        )
        _ = try await broker.push([job.makeEnvelope()], to: "default")
    }

    /// All data in the server except the time of the last heartbeat and keys that an audit has moved aside.
    func dump() throws -> [String: String] {
        var dump: [String: String] = [:]
        for key in try server.run("KEYS", "errand:*").split(whereSeparator: \.isNewline).map(String.init) {
            let type = try server.run("TYPE", key)
            dump[key] =
                switch type {
                case "hash": try sorted(server.run("HGETALL", key))
                case "zset": try server.run("ZRANGE", key, "0", "-1", "WITHSCORES")
                case "set": try sorted(server.run("SMEMBERS", key))
                case "stream": try server.run("XRANGE", key, "-", "+")
                case "list": try server.run("LRANGE", key, "0", "-1")
                default: try server.run("GET", key)
                }
        }
        return dump
    }

    private func sorted(_ lines: String) -> String {
        lines.split(whereSeparator: \.isNewline).sorted().joined(separator: "\n")
    }

    /// Calls everything that changes a schedule, and returns whether all calls were rejected.
    func tryEverythingOfSchedules() async -> Bool {
        let broker = broker
        let changed = try? Self.schedule("ticking", revision: 1)
        return await areRefused([
            { if let changed { try await broker.put(changed) } },
            { _ = try await broker.pauseSchedule("ticking", on: "default") },
            { _ = try await broker.resumeSchedule("paused", on: "default") },
            { _ = try await broker.deleteSchedule("ticking", on: "default") },
            { _ = try await broker.runSchedule("ticking", on: "default") },
        ])
    }

    private func areRefused(_ calls: [() async throws -> Void]) async -> Bool {
        var refused = 0
        for call in calls {
            do { try await call() } catch { refused += 1 }
        }
        return refused == calls.count
    }

    /// Calls every transition that changes jobs or a key of the session, and returns whether all were rejected.
    func tryEverything(with key: String) async -> Bool {
        let session = Self.session
        let broker = broker
        let job = try? OperationDescription("work", name: "yet another", unique: .drop).makeEnvelope()
        let reports = [OutcomeReport.Verb.finished, .failed, .unroutable].map {
            OutcomeReport(
                id: "running",
                token: 1,
                verb: $0,
                attempt: 1,
                fragment: Array(#""operation":"unknown","name":null"#.utf8)
            )
        }
        let own: [() async throws -> Void] = [
            { _ = try await broker.exchange(Calls.exchange(session, 1000, reports, wanted: 5), on: "default") },
            { _ = try await broker.recover(on: "default") },
            { try await broker.release(session, on: "default") },
        ]
        // Cancelling reads sessions' claims, and no other keys of sessions.
        let claims: [() async throws -> Void] = [
            { _ = try await broker.cancel(["plain", "later", "running", "unroutable", "line-3"], on: "default") }
        ]
        let common: [() async throws -> Void] = [
            { _ = try await broker.push(job.map { [$0] } ?? [], to: "default") },
            { _ = try await broker.promote(on: "default") },
            { _ = try await broker.delete(["dead", "done"], on: "default") },
            { _ = try await broker.retry(["dead"], on: "default") },
            { _ = try await broker.clear("default") },
        ]
        switch key {
        case "session:" + session.id: return await areRefused(own)
        case "claims:" + session.id: return await areRefused(own + claims)
        default: return await areRefused(own + claims + common)
        }
    }

    /// Runs all jobs, also the dead and the unroutable ones, and returns those that were never claimed.
    func drain() async throws -> [String] {
        let bodies = Set(
            try server.run("HKEYS", "errand:{default}:body").split(whereSeparator: \.isNewline).map(String.init)
        )
        // The old session dies, and its jobs are recovered.
        try server.run("ZADD", "errand:{default}:sessions", "1", Self.session.id)
        try server.run("HDEL", "errand:{default}:runtime", "grace", "beat")
        while try await broker.recover(on: "default").hasMore {}
        for due in ["scheduled", "retrying"] {
            for id in try server.run("ZRANGE", "errand:{default}:\(due)", "0", "-1").split(whereSeparator: \.isNewline)
            {
                try server.run("ZADD", "errand:{default}:\(due)", "1", String(id))
            }
        }
        _ = try await broker.promote(on: "default")
        let dead = try server.run("ZRANGE", "errand:{default}:dead", "0", "-1").split(whereSeparator: \.isNewline).map(
            String.init
        )
        _ = try await broker.delete(dead, on: "default")
        let session = Session(
            id: "sessionB",
            host: "here",
            pid: 2,
            concurrency: 8,
            queues: ["default"],
            lease: .seconds(60),
            operations: ["work": OperationDefaults(retries: 0), "unknown": OperationDefaults(retries: 0)]
        )
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        var came = Set(dead)
        var idle = 0
        while idle < 2 {
            let claims = try await calls.claim(100)
            idle = claims.isEmpty ? idle + 1 : 0
            for claim in claims {
                came.insert(claim.id)
                try await calls.report(claim, .finished)
            }
        }
        // A job that was replaced when it was released has ended, too.
        let left = Set(
            try server.run("HKEYS", "errand:{default}:body").split(whereSeparator: \.isNewline).map(String.init)
        )
        return left.intersection(bodies).subtracting(came).sorted()
    }

    /// Pushes, claims, fails, releases and finishes jobs until it is cancelled, and returns the number of claims.
    static func churn(_ broker: RedisBroker) async throws -> Int {
        let session = session("sessionC")
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        var count = 0
        while !Task.isCancelled {
            let names: [String?] = [nil, "a", "b"]
            let jobs = try (0..<20).map {
                try OperationDescription("work", name: names[$0 % 3], unique: names[$0 % 3] == nil ? nil : .replace)
                    .makeEnvelope()
            }
            _ = try await broker.push(jobs, to: "default")
            for (index, claim) in try await calls.claim(25).enumerated() {
                count += 1
                switch index % 5 {
                case 0: try await calls.report(claim, .failed, delay: 1)
                case 1: try await calls.report(claim, .released)
                default: try await calls.report(claim, .finished, result: "x")
                }
            }
            _ = try await broker.promote(on: "default")
        }
        return count
    }
}

/// A session's numbered calls.
struct Calls {
    let broker: RedisBroker
    let session: Session
    private var number = 0

    init(broker: RedisBroker, session: Session) {
        self.broker = broker
        self.session = session
    }

    static func exchange(_ session: Session, _ call: Int, _ reports: [OutcomeReport], wanted: Int) -> Exchange {
        Exchange(
            session: session,
            call: call,
            reports: reports,
            wanted: wanted,
            freeSlots: wanted,
            begun: 0,
            longestWait: .seconds(60),
            stopGrace: .seconds(2)
        )
    }

    /// The reports of jobs that have finished at their first attempt.
    static func finishes(of claims: [Claim]) throws -> [OutcomeReport] {
        try claims.map { claim in
            let fragment = try JobEnvelope.read(stored: claim.body).fragment
            return OutcomeReport(id: claim.id, token: claim.token, verb: .finished, attempt: 1, fragment: fragment)
        }
    }

    mutating func claim(_ count: Int) async throws -> [Claim] {
        number += 1
        return try await broker.exchange(Self.exchange(session, number, [], wanted: count), on: "default").claims
    }

    /// Returns whether the report was accepted.
    @discardableResult mutating func report(
        _ claim: Claim,
        _ verb: OutcomeReport.Verb,
        result: String = "",
        delay: Int? = nil
    ) async throws -> Bool {
        number += 1
        let job = try? JobEnvelope.read(stored: claim.body)
        let report = OutcomeReport(
            id: claim.id,
            token: claim.token,
            verb: verb,
            attempt: claim.attempt,
            fragment: job?.fragment ?? [],
            error: verb == .failed ? "broken" : nil,
            result: Array(result.utf8),
            retryDelay: delay
        )
        return try await broker.exchange(Self.exchange(session, number, [report], wanted: 0), on: "default").accepted
            == [true]
    }
}

import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// Keys that vanish: evicted, flushed or deleted.
extension Scenario {
    static let vanishedKeys = [
        Scenario("F44", "the server evicts keys; the doctor finds and repairs it", quick: true) { context in
            context.rules {
                losing(&$0)
                $0.jobsMayBeCancelled = true
            }
            let server = try context.server(["--maxmemory-samples", "20"])
            var isAnySeen = false
            for _ in 0..<context.size(quick: 2, full: 20) {
                try await prepare(context)
                let before = try await context.keys()
                try await evict(context, server, from: before)
                if try await expectToBeSeen(context, server, before) { isAnySeen = true }
                let gone = Set(before).subtracting(try await context.keys()).sorted()
                do { try await mend(context, server) } catch { throw TestFailure("without \(gone): \(error)") }
            }
            context.expectInjection(isAnySeen, "no key was evicted of which the doctor can know")
        },
        Scenario("F49", "everything is flushed at random", quick: true) { context in
            context.rules { $0.serverLosesData = true }
            let server = try context.server()
            let workers = try await context.workers(2)
            let load = context.load(rate: 60, "nap") { $0.milliseconds = 20 }
            for _ in 0..<context.size(quick: 3, full: 60) {
                try await Task.sleep(for: .milliseconds(context.random(300...1200)))
                try await context.push(1, "nap") {
                    $0.name = "same"
                    $0.unique = .drop
                }
                let keys = try server.run("DBSIZE")
                try server.run("FLUSHALL")
                context.injected(keys == "0" ? 0 : 1)
                try await context.carries(load, within: .seconds(5))
                let queues = try await context.console.queues()
                context.expect(queues.contains(ScenarioContext.queue), "the queue is not in the registry again")
            }
            try await load.stop()
            try await context.expectEveryoneIsBusy(workers)
            let held = workers.map { context.sessions(of: $0).count }
            context.expect(held.allSatisfy { $0 > 1 }, "a worker did not notice that its session was gone")
        },
        Scenario("F50", "one key after the other is deleted; the doctor repairs it", quick: true) { context in
            context.rules {
                losing(&$0)
                $0.jobsMayBeCancelled = true
            }
            let server = try context.server()
            let most = ["body", "ready:5", "sessions", "claims:*", "unique", "runtime"]
            let others = [
                "scheduled", "retrying", "session:*", "unique:of", "running", "successors", "stops", "counters",
                "failures", "crashes", "errors", "idle", "dead",
                "unroutable:*", "unroutable", "alias", "alias:of", "tombstones", "ended",
            ]
            for name in context.isFull ? most + others : most {
                try await prepare(context)
                try await provide(name, context, server)
                let all = try await context.keys()
                let keys = try server.run("KEYS", ScenarioContext.key(name)).split(separator: "\n").map(String.init)
                let deleted = try keys.isEmpty ? "0" : server.run(["DEL"] + keys)
                context.injected(Int(deleted) ?? 0, or: "there was no \(name)")
                let before = context.state.withLock(\.problems.count)
                try await expectToBeSeen(context, server, all)
                do { try await mend(context, server) } catch { context.fails(error) }
                let after = context.state.withLock(\.problems.count)
                if after > before { context.note("this was without \(name)") }
            }
        },
    ]

    private static func losing(_ rules: inout ScenarioContext.Rules) {
        rules.serverLosesData = true
        // A job without its due time runs at once.
        rules.earlyTolerance = 1_000_000
        // The record of a session without a lease, and a list of unroutable jobs without its count, are harmless.
        rules.toleratedKeys = ["session:", "unroutable:"]
    }

    /// Jobs in every state, and a worker that was killed during some of them.
    private static func prepare(_ context: ScenarioContext) async throws {
        let worker = try await context.worker { $0.without = ["snooze"] }
        let gate = context.directory + "/never"
        for name in ["one", "two"] {
            try await context.push(1, "gate") {
                $0.gate = gate
                $0.timeout = .seconds(300)
                $0.name = name
                $0.unique = .replace
                $0.ends = false
            }
        }
        try await context.push(1, "final") { $0.ends = false }
        try await context.push(1, "fail") {
            $0.retries = 20
            $0.ends = false
        }
        try await context.push(1, "snooze")
        try await eventually("they run, fail and wait") {
            let status = try await context.status()
            return status.running == 2 && status.dead > 0 && status.retrying > 0 && !status.unknownOperations.isEmpty
        }
        try await context.kill(worker)
        // They wait for a holder that no longer runs, and until they are due.
        try await context.push(1, "mark") {
            $0.name = "one"
            $0.unique = .replace
        }
        try await context.push(20, "mark")
        try await context.push(5, "mark") { $0.delay = 2000 }
        try await context.push(2, "mark") {
            $0.name = "three"
            $0.unique = .replace
        }
    }

    /// Data that does not exist at that moment by itself, in its usual form.
    private static func provide(_ name: String, _ context: ScenarioContext, _ server: RedisServer) async throws {
        switch name {
        case "crashes":
            let held = try server.run("HKEYS", ScenarioContext.key("running")).split(separator: "\n").first ?? ""
            try server.run("HSET", ScenarioContext.key("crashes"), String(held), "1")
        case "idle":
            let session = try server.run("ZRANGE", ScenarioContext.key("sessions"), "0", "0")
            try server.run("SADD", ScenarioContext.key("idle"), session)
        case "gone":
            // A list of this length is not searched.
            let ids = try await context.push(1001, "mark")
            _ = try await context.console.cancel(Array(ids.suffix(1)), on: ScenarioContext.queue)
        default: break
        }
    }

    /// Adds data until a key of the queue is evicted.
    private static func evict(_ context: ScenarioContext, _ server: RedisServer, from before: [String]) async throws {
        let used = try server.count("used_memory")
        try server.configure("maxmemory-policy", "allkeys-lru")
        try server.configure("maxmemory", "\(used + 500_000)")
        let fill = "for i = 1, 200 do redis.call('SET', 'filler:' .. ARGV[1] .. ':' .. i, string.rep('x', 1000)) end"
        var round = 0
        try await eventually("the server has evicted a key of the queue") {
            round += 1
            try server.run("EVAL", fill, "0", "\(round)")
            return try await context.keys().count < before.count
        }
        context.expectInjection(try server.count("evicted_keys") > 0, "the server evicted nothing")
        context.injected(before.count - (try await context.keys().count))
        let doctor = try await examine(context, server, [])
        context.expect(
            doctor.text.contains("maxmemory_policy"),
            "the doctor does not warn of the policy: \(doctor.text)"
        )
        try server.configure("maxmemory-policy", "noeviction")
        try server.configure("maxmemory", "0")
    }

    /// Checks that the doctor exits with 1 if it has findings, and has findings if related data is left.
    ///
    /// - Returns: Whether there are findings.
    @discardableResult
    private static func expectToBeSeen(
        _ context: ScenarioContext,
        _ server: RedisServer,
        _ before: [String]
    ) async throws -> Bool {
        let left = try await context.keys()
        let gone = Set(before).subtracting(left)
        let isSeen =
            (left.contains("body") && gone.contains(where: isCounterpart))
            || (gone.contains("body") && left.contains(where: isCounterpart))
            || (gone.contains("sessions") && left.contains { $0.hasPrefix("claims:") })
        let doctor = try await examine(context, server, [])
        context.expect(
            doctor.status == (doctor.isClean ? 0 : 1),
            "errand doctor ended with \(doctor.status), and said \(doctor.text)"
        )
        context.expect(!isSeen || !doctor.isClean, "errand doctor finds nothing without \(gone.sorted())")
        return isSeen
    }

    /// Whether a key contains the positions or names of jobs: without it, or without their bodies, there are
    /// findings.
    private static func isCounterpart(_ key: String) -> Bool {
        ["ready:5", "scheduled", "retrying", "dead", "unique", "unique:of"].contains(key) || key.hasPrefix("claims:")
    }

    /// Whatever is missing, the doctor repairs it, the remaining jobs reach their end, and new jobs run.
    private static func mend(_ context: ScenarioContext, _ server: RedisServer) async throws {
        let owed = try owed(context, server)
        let repaired = try await examine(context, server, ["--repair"])
        context.expect([0, 1].contains(repaired.status), "errand doctor --repair ended with \(repaired.status)")
        let again = try await examine(context, server, [])
        // The last two: two unfinished jobs have one name, and until the holder runs or ends, only a person can decide
        // between them.
        let handedOver = ["session_unknown", "claims_without_session", "job_without_name", "name_not_held"]
        let left = try await context.audit().filter { !handedOver.contains($0.kind) }
        context.expect(left.isEmpty, "the doctor did not mend \(left.prefix(3).map { "\($0.kind) \($0.subject)" })")
        let repairedAt = ContinuousClock.now
        let worker = try await context.worker()
        var named = JobOptions()
        named.name = "three"
        named.unique = .drop
        // The job itself, or the holder of the name, which runs instead.
        let holder = try await context.push([try context.job("mark", named)])[0].id
        try await context.recovers("the holder of a name runs", within: .seconds(30), since: repairedAt) {
            context.ledger.ended[holder] != nil
        }
        // If it leaves jobs to recovery, that may reveal more missing data, which it then repairs.
        do {
            try await eventually("the audit is clean", within: .seconds(24)) {
                if try await context.audit().isEmpty { return true }
                try await Task.sleep(for: .seconds(2))
                _ = try await examine(context, server, ["--repair"])
                return try await context.audit().isEmpty
            }
        } catch {
            let findings = try await context.audit().map { "\($0.kind) \($0.subject)" }
            context.expect(false, "the audit finds \(findings.prefix(3)) still; the doctor said \(again.text)")
        }
        await expectEnds(of: owed, context)
        _ = try await context.console.clear(ScenarioContext.queue)
        try await cancelAll(context)
        do { try await context.drain(within: .seconds(30)) } catch {
            let status = try await context.status()
            throw TestFailure("\(error): \(status)")
        }
        _ = try await context.console.delete(try await context.dead(), on: ScenarioContext.queue)
        try await eventually("the dead sessions are gone") {
            try server.run("ZCARD", KeySpace.key(of: ScenarioContext.queue) + ":sessions") == "1"
        }
        worker.signal(SIGTERM)
        _ = try await worker.end(within: .seconds(40))
    }

    /// The jobs whose bodies are left, and which should reach their end.
    private static func owed(_ context: ScenarioContext, _ server: RedisServer) throws -> [String] {
        let entries = context.accounts.entries
        let ids = try server.run("HKEYS", ScenarioContext.key("body")).split(separator: "\n").map(String.init)
        return ids.filter { entries[$0]?.ends == true }
    }

    /// Whatever else is missing, the rest suffices for them to run, or to end visibly.
    private static func expectEnds(of ids: [String], _ context: ScenarioContext) async {
        var open = ids
        var unknown: [String] = []
        do {
            try await eventually("every job of which a body is left ends: \(open.prefix(3))", within: .seconds(30)) {
                let ended = context.ledger.ended
                open = open.filter { ended[$0] == nil }
                let records = try await context.console.inspect(open, on: ScenarioContext.queue)
                unknown = zip(open, records).filter { $0.1 == nil }.map(\.0)
                open = zip(open, records).filter { $0.1?.state.hasEnded == false }.map(\.0)
                return open.isEmpty || !unknown.isEmpty
            }
        } catch { context.fails(error) }
        context.expect(unknown.isEmpty, "jobs whose bodies were left are gone: \(unknown.prefix(3))")
    }

    /// Jobs that run or fail forever are cancelled.
    private static func cancelAll(_ context: ScenarioContext) async throws {
        try await eventually("nothing runs for ever") {
            for state in [JobState.running, .retrying, .deferred] {
                let jobs = try await context.console.jobs(in: state, on: ScenarioContext.queue, from: 0, count: 100)
                    .jobs
                _ = try await context.console.cancel(jobs.map(\.id), on: ScenarioContext.queue)
            }
            return try await context.status().isEmpty
        }
    }

    private static func examine(
        _ context: ScenarioContext,
        _ server: RedisServer,
        _ more: [String]
    ) async throws -> Examination {
        let doctor = try context.command("errand", ["doctor", "--json", "--redis", server.url] + more)
        let status = try await doctor.end()
        return Examination(status: status, text: doctor.lines.filter { $0.hasPrefix("{") }.joined())
    }
}

/// The output of the doctor.
private struct Examination {
    let status: Int32
    let text: String

    /// Whether it reports no broken invariant.
    var isClean: Bool { text.replacing(" ", with: "").contains(#""clean":true"#) }
}

extension ScenarioContext {
    /// The ids of dead jobs.
    func dead() async throws -> [String] {
        try await console.jobs(in: .dead, on: Self.queue, from: 0, count: 500).jobs.map(\.id)
    }
}

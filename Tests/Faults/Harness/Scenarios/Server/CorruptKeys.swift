import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Keys of wrong types, missing permissions, and unexpectedly large queues.
extension Scenario {
    static let corruptKeys = [
        Scenario("F51", "one key after the other has a wrong type for a time, under load", quick: true) { context in
            context.rules { $0.triesRefusedAgain = true }
            let server = try context.server()
            let workers = try await context.workers(2)
            let loads = loadOfEveryKind(context)
            let pulse = try await Pulse(context)
            for round in 0..<context.size(quick: 1, full: 3) {
                for name in spoilable {
                    try await corrupt(name, context, server, lasting: .milliseconds(100 + 200 * round))
                }
                for session in workers.compactMap({ context.sessions(of: $0).last }) {
                    for kind in ["session", "claims"] {
                        try await corrupt(
                            "\(kind):\(session)",
                            context,
                            server,
                            lasting: .milliseconds(100 + 200 * round)
                        )
                    }
                }
            }
            for load in loads { try await load.stop() }
            try await pulse.stop()
            try await context.expectEveryoneIsBusy(workers)
            let named = try await context.push(1, "mark") {
                $0.name = "same"
                $0.unique = .drop
            }
            try await context.recovers("the name is free", within: .seconds(5)) {
                context.ledger.ended[named[0]] != nil
            }
        },
        Scenario("F60", "a permission is missing, and with the listed ones nothing is rejected", quick: true) {
            context in
            let server = try context.server(rules: "-zrangebyscore")
            let before = try server.count("total_connections_received")
            let producer = try context.program(
                "errand-producer",
                ["push", "mark", "--queue", ScenarioContext.queue, "--delay", "1h", "--redis", server.url]
            )
            _ = try await producer.end()
            let doctor = try context.program(
                "errand-worker",
                [
                    "--catalogue", try catalogue(context), "--queue", ScenarioContext.queue, "--redis", server.url,
                    "--lease", "1s",
                ]
            )
            let status = try await doctor.end(within: .seconds(20))
            context.expect(status == 77, "a worker without a right ended with \(status)")
            context.expect(doctor.lines.contains { $0.contains("ZRANGEBYSCORE") }, "it said \(doctor.lines.suffix(2))")
            let made = try server.count("total_connections_received") - before
            context.expect(made < 20, "\(made) connections were made")
            context.injected()
            try server.run("ACL", "SETUSER", "errand", "+zrangebyscore")
            try server.run("ACL", "LOG", "RESET")
            while try await context.console.clear(ScenarioContext.queue) > 0 {}
            try await context.workers(2)
            try await context.push(200, "mark")
            try await context.push(20, "failonce") { $0.retries = 1 }
            try await context.drain()
            let refused = try server.run("ACL", "LOG")
            context.expect(refused.isEmpty, "refused was \(refused.prefix(300))")
        },
        Scenario(
            "F54",
            "millions of jobs wait, a million is due at once, thousands of sessions are dead",
            limit: .seconds(300),
            outlastBacklog
        ),
    ]

    /// Every key that calls of a worker, a producer or a schedule read, except those of one session, and except the
    /// timetable:
    /// without it no worker learns that a tick is due, so the fault might have no effect.
    private static let spoilable = [
        "ready:5", "ready:0", "body", "scheduled", "retrying", "runtime", "counters", "ended", "sessions", "dead",
        "unique", "unique:of", "running", "successors", "stops", "idle", "failures", "crashes", "solo_crashes",
        "errors", "progress",
        "checkpoints", "settings", "quarantined", "unroutable", "alias", "alias:of", "tombstones", "history",
        "history:order",
        "schedules", "pauses", "ticks",
    ]

    /// Jobs that finish, fail once, and replace each other while they run and while they wait.
    private static func loadOfEveryKind(_ context: ScenarioContext) -> [Load] {
        let plain = context.load(rate: 60, "nap") {
            $0.milliseconds = 10
            $0.retries = 1
        }
        let delayed = context.load(rate: 20, "failonce") {
            $0.delay = 50
            $0.retries = 2
        }
        let named = context.load(rate: 20, "nap") {
            $0.milliseconds = 60
            $0.name = "same"
            $0.unique = .replace
            $0.ends = false
        }
        return [plain, delayed, named]
    }

    /// A key is a string for a time; a call must meet it, and work must continue when it is restored.
    private static func corrupt(
        _ name: String,
        _ context: ScenarioContext,
        _ server: RedisServer,
        lasting time: Duration
    ) async throws {
        let before = try server.errors("WRONGTYPE")
        // Scripts, so that no time passes between the two commands.
        let corrupt = "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end"
        try server.run(
            "EVAL",
            corrupt + " redis.call('SET', KEYS[1], 'x')",
            "2",
            ScenarioContext.key(name),
            "saved-key"
        )
        // If no call does, the key is restored nevertheless, and there was no injection.
        try? await eventually("a call meets \(name)", within: .seconds(3)) { try server.errors("WRONGTYPE") > before }
        // It stays for a while, so that other calls meet it, too.
        try await Task.sleep(for: time)
        context.injected(try server.errors("WRONGTYPE") - before, or: "no call met \(name) while it was corrupted")
        let mend = "if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1])"
        try server.run(
            "EVAL",
            mend + " else redis.call('DEL', KEYS[1]) end",
            "2",
            ScenarioContext.key(name),
            "saved-key"
        )
        let ended = context.ledger.counts.ended
        try await context.recovers("work goes on after \(name) was corrupted", within: .seconds(10)) {
            context.ledger.counts.ended > ended
        }
    }

    private static func outlastBacklog(_ context: ScenarioContext) async throws {
        // No slow command may be dropped from the log.
        let server = try context.server(["--slowlog-log-slower-than", "10000", "--slowlog-max-len", "1000000"])
        try server.takePrecedence()
        // So that each call is identified by its digest.
        try server.learnScripts()
        let (ready, due, dead) = (
            context.size(quick: 200_000, full: 2_000_000), context.size(quick: 100_000, full: 1_000_000),
            context.size(quick: 500, full: 20_000)
        )
        try await fill(context, ready: ready, due: due, dead: dead)
        let filled = Int(try server.run("HLEN", ScenarioContext.key("body"))) ?? 0
        context.expect(filled >= ready + due, "only \(filled) jobs were filled in")
        try server.run("SLOWLOG", "RESET")
        try await context.workers(2) { $0.concurrency = 16 }
        let ids = try await context.push(1, "mark") { $0.priority = 9 }
        try await context.recovers("a job of the highest priority is run", within: .seconds(30)) {
            context.ledger.ended[ids[0]] != nil
        }
        try await eventually("the due jobs are ready and the dead sessions have ended", within: .seconds(240)) {
            let now = try await context.status()
            let sessions = try await context.console.status(of: ScenarioContext.queue).sessions.count
            return now.scheduled == 0 && sessions == 2
        }
        context.injected()
        let slowest = try slowest(server)
        let slow = slowest.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value / 1000) ms" }
        context.note("longer than 10 ms at most: \(slow.isEmpty ? "none" : slow.joined(separator: ", "))")
        // A machine may pause during a call; a call that is really too long is so every time.
        for (script, time) in slowest {
            context.expectInTime(time < 50_000, "a call of \(script) took \(time / 1000) ms")
        }
        // Everything that is deleted below existed; counted in this order, because waiting jobs end meanwhile.
        let left = Int(try server.run("HLEN", ScenarioContext.key("body"))) ?? 0
        let finished = try await context.totals()["finished"]
        context.expect(finished + left >= filled + 1, "of \(filled + 1) jobs \(finished) finished and \(left) are left")
        try await context.leave()
        try removeFiller(context, server)
        for line in context.ledger.lines { context.accounts.adopt(line.id) }
    }

    /// The remaining foreign jobs are in no accounts, were counted above, and are too many to run. Everything else
    /// stays, so that leftovers are noticed.
    private static func removeFiller(_ context: ScenarioContext, _ server: RedisServer) throws {
        let script = """
            local ids, strangers = redis.call('LPOP', KEYS[1] .. ':ready:5', 5000) or {}, {}
            for _, id in ipairs(ids) do
              if string.find(id, '^[rds]%d+$') then redis.call('HDEL', KEYS[1] .. ':body', id)
              else strangers[#strangers + 1] = id end
            end
            if #strangers > 0 then redis.call('RPUSH', KEYS[1] .. ':ready:5', unpack(strangers)) end
            return #ids - #strangers
            """
        while true {
            let removed = try server.run("EVAL", script, "1", KeySpace.key(of: ScenarioContext.queue))
            guard let count = Int(removed) else { throw TestFailure("what is left was not removed: \(removed)") }
            guard count > 0 else { return }
        }
    }

    /// The longest slow call of each script, in microseconds.
    private static func slowest(_ server: RedisServer) throws -> [String: Int] {
        let names = Dictionary(uniqueKeysWithValues: Script.all.map { ($0.digest, $0.name) })
        let lines = try server.run("SLOWLOG", "GET", "-1").split(whereSeparator: \.isNewline).map(String.init)
        var slowest: [String: Int] = [:]
        // An entry is its number, time, microseconds, words, client and name; a script's digest is its second word.
        for (index, line) in lines.enumerated().dropFirst().dropLast() where line == "EVALSHA" {
            guard let time = Int(lines[index - 1]) else { continue }
            let name = names[lines[index + 1]] ?? "another script"
            slowest[name] = max(slowest[name] ?? 0, time)
        }
        return slowest
    }

    private static func catalogue(_ context: ScenarioContext) throws -> String {
        let path = context.directory + "/catalogue.yaml"
        try "operations:\n  mark: {run: [\"true\"]}\n".write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// Foreign jobs, written directly, and sessions that died long ago, each with two claims.
    private static func fill(_ context: ScenarioContext, ready: Int, due: Int, dead: Int) async throws {
        // Sets the queue's counts, so that it looks like one in use.
        try await context.push(1, "mark")
        let job = try context.job("mark")
        let script = """
            local body = string.format('%.0f', redis.call('TIME')[1] * 1000) .. ARGV[4]
            for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
              local id = ARGV[3] .. i
              redis.call('HSET', KEYS[1] .. ':body', id, body)
              if ARGV[3] == 'r' then redis.call('RPUSH', KEYS[1] .. ':ready:5', id)
              elseif ARGV[3] == 'd' then redis.call('ZADD', KEYS[1] .. ':scheduled', 1, id)
              else
                local session = 'dead-session-' .. math.floor(i / 2)
                redis.call('ZADD', KEYS[1] .. ':sessions', 1, session)
                redis.call('HSET', KEYS[1] .. ':session:' .. session, 'host', 'x', 'pid', 1, 'concurrency', 1, 'lease', 1000)
                redis.call('HSET', KEYS[1] .. ':claims:' .. session, id, '1:1')
              end
            end
            """
        // The arguments of the copied body contain another id, so they must not be compared.
        let text = String(decoding: job.bytes, as: UTF8.self).replacing("\"id\":\"\(job.id)\"", with: "\"n\":1")
        for (kind, count) in [("r", ready), ("d", due), ("s", 2 * dead)] {
            for start in stride(from: 0, to: count, by: 20_000) {
                let words = [
                    script, "1", KeySpace.key(of: ScenarioContext.queue), "\(start)",
                    "\(min(start + 20_000, count) - 1)", kind,
                    text,
                ]
                try await context.write("EVAL", words.map { Array($0.utf8) })
            }
        }
    }
}

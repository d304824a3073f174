import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Clients that can write to the server can write anything.
extension Scenario {
    static let garbage = [
        Scenario("F63", "bodies of waiting jobs are overwritten with garbage", quick: true) { context in
            try context.server()
            let count = context.size(quick: 60, full: 10_000)
            let good = try await push(context, "mark", count)
            let bad = try await push(context, "mark", count, ends: false)
            for id in bad {
                let body =
                    try await context.operatorsBroker.command(
                        .command("HGET", ScenarioContext.key("body"), id),
                        for: .anywhere
                    ).bytes
                    ?? []
                try await context.write(
                    "HSET",
                    [Array(ScenarioContext.key("body").utf8), Array(id.utf8), corrupted(body, context)]
                )
            }
            let workers = try await context.workers(2)
            try await context.drain()
            for start in stride(from: 0, to: bad.count, by: 500) {
                let part = Array(bad[start..<min(start + 500, bad.count)])
                for (id, record) in zip(part, try await context.console.inspect(part, on: ScenarioContext.queue)) {
                    context.expect(record?.state == .dead, "\(id) is \(record?.state.rawValue ?? "gone")")
                    let event = String(decoding: record?.lastEvent ?? [], as: UTF8.self)
                    let says =
                        event.contains(#""error":"stored job cannot be read"#)
                        || event.contains("stored job is missing")
                    context.expect(says, "the reason of \(id) is \(event)")
                }
            }
            let dead = try await context.status().dead
            context.injected(dead)
            context.expect(dead == count, "\(dead) are dead")
            context.expect(good.allSatisfy { context.ledger.ended[$0] == 1 }, "a good job did not run once")
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 && $0.isRunning }, "a worker ended")
            for start in stride(from: 0, to: bad.count, by: 500) {
                _ = try await context.console.delete(
                    Array(bad[start..<min(start + 500, bad.count)]),
                    on: ScenarioContext.queue
                )
            }
        },
        Scenario("F64", "garbage is written into every key and onto every channel, while jobs run", quick: true) {
            context in
            // Garbage in a schedule is moved aside for a person.
            context.rules { $0.toleratedKeys = ["corrupt:definitions"] }
            let server = try context.server()
            let gate = context.directory + "/gate"
            let workers = try await context.workers(2)
            let running = try await context.push(4, "gate") {
                $0.gate = gate
                $0.timeout = .seconds(120)
            }
            try await eventually("four run") { running.allSatisfy { context.ledger.begun[$0] != nil } }
            let waiting = try await push(context, "mark", 40)
            var garbage: Set<[UInt8]> = []
            for _ in 0..<context.size(quick: 6, full: 60) {
                let texts = try await corrupt(context, workers.flatMap { context.sessions(of: $0) })
                garbage.formUnion(texts)
            }
            let after = try await push(context, "mark", 40)
            try await see(context)
            let survivor = try await expectTakeover(context, workers, of: running)
            try Data().write(to: URL(fileURLWithPath: gate))
            let all = running + waiting + after
            try await context.recovers("every good job is finished") {
                all.allSatisfy { context.ledger.ended[$0] != nil }
            }
            context.expect(survivor.isRunning, "a worker ended")
            try await mend(context, server, garbage)
            let final = try await push(context, "mark", 10)
            try await context.recovers("further jobs are finished") {
                final.allSatisfy { context.ledger.ended[$0] != nil }
            }
        },
        Scenario("F64b", "an id is twice in a ready list: it may run twice, and ends once", quick: true) { context in
            // Either end may be the accepted one.
            context.rules {
                $0.mayRunAfterItsEnd = true
                $0.mayReuseTokens = true
            }
            let server = try context.server()
            let gate = context.directory + "/gate"
            let id = try await context.push(1, "gate") { $0.gate = gate }[0]
            try server.run("RPUSH", ScenarioContext.key("ready:5"), id)
            let found = try await context.audit().map(\.kind)
            context.expect(found == ["several_places"], "the audit found \(found)")
            let events = try await context.listen()
            try await context.workers(2) { $0.concurrency = 1 }
            try await eventually("the job runs twice") { context.ledger.begun[id] == 2 }
            context.injected()
            try Data().write(to: URL(fileURLWithPath: gate))
            try await context.drain()
            try await eventually("an end is heard") { !events.all("finished", of: id).isEmpty }
            let totals = try await context.totals()
            context.expect(totals["finished"] == 1, "it ended \(totals["finished"]) times")
            context.expect(events.all("finished", of: id).count == 1, "its end was published more than once")
        },
    ]

    /// One worker is killed during its jobs; the other recovers them in time, whatever garbage there is.
    ///
    /// - Returns: The live one.
    private static func expectTakeover(
        _ context: ScenarioContext,
        _ workers: [Program],
        of jobs: [String]
    ) async throws -> Program {
        guard let victim = workers.first(where: { context.holds($0, jobs) }),
            let survivor = workers.first(where: { $0.pid != victim.pid })
        else { throw TestFailure("no worker runs any of the jobs") }
        let held = jobs.filter { context.holds(victim, [$0]) }
        let killed = ContinuousClock.now
        try await context.kill(victim)
        let limit = Duration.milliseconds(WorkerOptions().lease) + .seconds(5)
        try await context.recovers("the killed worker's \(held.count) jobs begin again", within: limit, since: killed) {
            held.allSatisfy { context.holds(survivor, [$0]) }
        }
        return survivor
    }

    /// Jobs on all levels, half of them with names.
    private static func push(
        _ context: ScenarioContext,
        _ operation: String,
        _ count: Int,
        ends: Bool = true
    ) async throws -> [String] {
        let jobs = try (0..<count).map { number in
            var options = JobOptions()
            options.name = number % 2 == 0 ? "\(operation) \(UUID())" : nil
            options.unique = number % 2 == 0 ? .replace : .ignore
            options.priority = number % 10
            return try context.job(operation, options)
        }
        for start in stride(from: 0, to: count, by: 500) {
            try await context.push(Array(jobs[start..<min(start + 500, count)]), ends: ends)
        }
        return jobs.map(\.id)
    }

    /// Nothing, noise, a part of a valid value, or a valid value with one wrong byte.
    private static func corrupted(_ body: [UInt8], _ context: ScenarioContext) -> [UInt8] {
        switch context.random(0...4) {
        case 0: []
        case 1: context.noise(context.random(1...300))
        case 2: context.noise(context.random(0...65536))
        case 3: Array(body.prefix(context.random(0...max(body.count - 1, 0))))
        default: Array(body.prefix(13)) + [UInt8(ascii: "2")] + body.dropFirst(14)
        }
    }

    private static let hashes = [
        "body", "unroutable", "unique", "unique:of", "running", "successors", "stops", "failures", "crashes",
        "solo_crashes", "errors",
        "alias",
        "alias:of", "tombstones", "ended", "ended:old", "history", "counters", "runtime", "settings", "schedules",
        "ticks",
    ]
    private static let lines =
        (0...9).map { "ready:\($0)" } + ["quarantined", "history:order", "unroutable:nobody-knows-this"]
    private static let sorted = ["scheduled", "retrying", "dead", "sessions", "timetable"]

    /// - Returns: The texts that were written, as ids, names or other values.
    private static func corrupt(_ context: ScenarioContext, _ sessions: [String]) async throws -> [[UInt8]] {
        let hashes = hashes + sessions.flatMap { ["session:\($0)", "claims:\($0)"] }
        // A finite set of garbage, so that texts repeat.
        let texts: [[UInt8]] =
            ["", "garbage", "0", "-1", "1e300", "nan", "a b\"c\n", "mark"].map { Array($0.utf8) }
            + [context.noise(20), context.noise(5000), [0, 255, 254]]
        func bytes(_ name: String) -> [UInt8] { Array(ScenarioContext.key(name).utf8) }
        for name in hashes {
            try await context.write("HSETNX", [bytes(name), context.pick(texts), context.pick(texts)])
        }
        for name in lines {
            try await context.write("RPUSH", [bytes(name), context.pick(texts)])
            try await context.write("LPUSH", [bytes(name), context.pick(texts)])
        }
        for name in sorted {
            let score = context.pick(["0", "1e15", "-5", "inf"])
            try await context.write("ZADD", [bytes(name), Array(score.utf8), context.pick(texts)])
        }
        try await context.write("SADD", [bytes("idle"), context.pick(texts)])
        try await context.write("SADD", [Array("errand:queues".utf8), context.pick(texts)])
        let forged = Array(#"{"event":"finished","id":"forged","worker":"x","attempt":1}"#.utf8)
        for channel in ["events"] + sessions.map({ "wakeups:\($0)" }) {
            for message in [context.pick(texts), Array("w".utf8), Array("s".utf8), forged, context.noise(100_000)] {
                try await context.write("PUBLISH", [bytes(channel), message])
            }
        }
        context.injected()
        return texts
    }

    /// Checks that the console's calls still return.
    private static func see(_ context: ScenarioContext) async throws {
        _ = try await context.console.queues()
        for state in JobState.allCases {
            var cursor: Int? = 0
            while let from = cursor {
                cursor = try await context.console.jobs(in: state, on: ScenarioContext.queue, from: from, count: 50)
                    .next
            }
        }
        _ = try await context.console.inspect(["garbage", "0", "nothing"], on: ScenarioContext.queue)
        context.expect(try await !context.audit().isEmpty, "the audit found nothing")
    }

    /// Repairs until nothing is found; then deletes dead and stray jobs.
    private static func mend(_ context: ScenarioContext, _ server: RedisServer, _ garbage: Set<[UInt8]>) async throws {
        try await eventually("the queue is mended", within: .seconds(30)) {
            try await context.console.audit(ScenarioContext.queue, repair: true).isEmpty
        }
        while try await context.console.clear(ScenarioContext.queue) > 0 {}
        let dead = try await context.console.jobs(in: .dead, on: ScenarioContext.queue, from: 0, count: 500).jobs.map(
            \.id
        )
        _ = try await context.console.delete(dead, on: ScenarioContext.queue)
        // Invalid ids cannot be deleted through the console, so an operator deletes them directly. Nothing else is
        // deleted, so that leftovers of valid jobs are noticed.
        let hashes = [
            "body", "errors", "failures", "crashes", "solo_crashes", "settings", "stops", "unique:of", "unique",
            "unroutable",
        ]
        for key in hashes { try await context.write("HDEL", [Array(ScenarioContext.key(key).utf8)] + garbage) }
        try await context.write("ZREM", [Array(ScenarioContext.key("dead").utf8)] + garbage)
        try server.run("DEL", ScenarioContext.key("unroutable:nobody-knows-this"))
        try server.run("HDEL", ScenarioContext.key("unroutable"), "nobody-knows-this")
        _ = try await context.console.audit(ScenarioContext.queue, repair: true)
    }
}

import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Anybody who can write to the server can write anything.
extension Scenario {
    static let garbage = [
        Scenario("F63", "bodies of waiting jobs are overwritten with garbage", quick: true) { play in
            try play.server()
            let count = play.size(quick: 60, full: 10_000)
            let good = try await push(play, "mark", count)
            let bad = try await push(play, "mark", count, ends: false)
            for id in bad {
                let body = try await play.operatorsBroker.command(.command("HGET", Play.key("body"), id)).bytes ?? []
                try await play.write("HSET", [Array(Play.key("body").utf8), Array(id.utf8), spoiled(body, play)])
            }
            let workers = try await play.workers(2)
            try await play.drain()
            for start in stride(from: 0, to: bad.count, by: 500) {
                let part = Array(bad[start..<min(start + 500, bad.count)])
                for (id, record) in zip(part, try await play.console.inspect(part, on: Play.queue)) {
                    play.expect(record?.state == .dead, "\(id) is \(record?.state.rawValue ?? "gone")")
                    let event = String(decoding: record?.lastEvent ?? [], as: UTF8.self)
                    let says = event.contains(#""error":"unreadable: "#) || event.contains("body is missing")
                    play.expect(says, "the reason of \(id) is \(event)")
                }
            }
            let dead = try await play.status().dead
            play.struck(dead)
            play.expect(dead == count, "\(dead) are dead")
            play.expect(good.allSatisfy { play.ledger.ended[$0] == 1 }, "a good job did not run once")
            play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 && $0.isRunning }, "a worker ended")
            for start in stride(from: 0, to: bad.count, by: 500) {
                _ = try await play.console.delete(Array(bad[start..<min(start + 500, bad.count)]), on: Play.queue)
            }
        },
        Scenario("F64", "garbage is written into every key and onto every channel, while jobs run", quick: true) {
            play in
            // A schedule's garbage is put aside for a person to look at.
            play.rules { $0.toleratedKeys = ["spoiled:definitions"] }
            let server = try play.server()
            let gate = play.directory + "/gate"
            let workers = try await play.workers(2)
            let running = try await play.push(4, "gate") {
                $0.gate = gate
                $0.timeout = .seconds(120)
            }
            try await eventually("four run") { running.allSatisfy { play.ledger.begun[$0] != nil } }
            let waiting = try await push(play, "mark", 40)
            var garbage: Set<[UInt8]> = []
            for _ in 0..<play.size(quick: 6, full: 60) {
                let texts = try await spoil(play, workers.flatMap { play.sessions(of: $0) })
                garbage.formUnion(texts)
            }
            let after = try await push(play, "mark", 40)
            try await see(play)
            let survivor = try await expectTakeover(play, workers, of: running)
            try Data().write(to: URL(fileURLWithPath: gate))
            let all = running + waiting + after
            try await play.recovers("every good job is finished") { all.allSatisfy { play.ledger.ended[$0] != nil } }
            play.expect(survivor.isRunning, "a worker ended")
            try await mend(play, server, garbage)
            let final = try await push(play, "mark", 10)
            try await play.recovers("further jobs are finished") { final.allSatisfy { play.ledger.ended[$0] != nil } }
        },
        Scenario("F64b", "an id stands in line twice: it may run twice, and ends once", quick: true) { play in
            // The end of either run may be the one that counts.
            play.rules {
                $0.mayRunAfterItsEnd = true
                $0.mayReuseTokens = true
            }
            let server = try play.server()
            let gate = play.directory + "/gate"
            let id = try await play.push(1, "gate") { $0.gate = gate }[0]
            try server.run("RPUSH", Play.key("ready:5"), id)
            let found = try await play.audit().map(\.kind)
            play.expect(found == ["several_places"], "the audit found \(found)")
            let events = try await play.listen()
            try await play.workers(2) { $0.concurrency = 1 }
            try await eventually("the job runs twice") { play.ledger.begun[id] == 2 }
            play.struck()
            try Data().write(to: URL(fileURLWithPath: gate))
            try await play.drain()
            try await eventually("an end is heard") { !events.all("finished", of: id).isEmpty }
            let totals = try await play.totals()
            play.expect(totals["finished"] == 1, "it ended \(totals["finished"]) times")
            play.expect(events.all("finished", of: id).count == 1, "its end was published more than once")
        },
    ]

    /// One worker is killed amid its jobs; the other takes them over in time, whatever stands beside them.
    ///
    /// - Returns: the one that lives.
    private static func expectTakeover(_ play: Play, _ workers: [Program], of jobs: [String]) async throws -> Program {
        guard let victim = workers.first(where: { play.holds($0, jobs) }),
            let survivor = workers.first(where: { $0.pid != victim.pid })
        else { throw TestFailure("no worker runs any of the jobs") }
        let held = jobs.filter { play.holds(victim, [$0]) }
        let killed = ContinuousClock.now
        try await play.kill(victim)
        let limit = Duration.milliseconds(WorkerOptions().lease) + .seconds(5)
        try await play.recovers("the killed worker's \(held.count) jobs begin again", within: limit, since: killed) {
            held.allSatisfy { play.holds(survivor, [$0]) }
        }
        return survivor
    }

    /// Jobs on all levels, half of them with names.
    private static func push(
        _ play: Play,
        _ operation: String,
        _ count: Int,
        ends: Bool = true
    ) async throws -> [String] {
        let jobs = try (0..<count).map { number in
            var options = JobOptions()
            options.name = number % 2 == 0 ? "\(operation) \(UUID())" : nil
            options.unique = number % 2 == 0 ? .replace : .ignore
            options.priority = number % 10
            return try play.job(operation, options)
        }
        for start in stride(from: 0, to: count, by: 500) {
            try await play.push(Array(jobs[start..<min(start + 500, count)]), ends: ends)
        }
        return jobs.map(\.id)
    }

    /// Nothing, noise, a part of the truth, or the truth with one byte wrong that matters.
    private static func spoiled(_ body: [UInt8], _ play: Play) -> [UInt8] {
        switch play.random(0...4) {
        case 0: []
        case 1: play.noise(play.random(1...300))
        case 2: play.noise(play.random(0...65536))
        case 3: Array(body.prefix(play.random(0...max(body.count - 1, 0))))
        default: Array(body.prefix(13)) + [UInt8(ascii: "2")] + body.dropFirst(14)
        }
    }

    private static let hashes = [
        "body", "parked", "names", "named", "running", "next", "stops", "failures", "crashes", "alone", "errors",
        "stand",
        "place", "gone", "ended", "ended:old", "history", "counters", "seq", "settings", "schedules", "ticks",
    ]
    private static let lines =
        (0...9).map { "ready:\($0)" } + ["suspects", "history:order", "parked:nobody-knows-this"]
    private static let sorted = ["scheduled", "retrying", "dead", "sessions", "timetable"]

    /// - Returns: the texts that stand anywhere now, as ids, names or whatever else.
    private static func spoil(_ play: Play, _ sessions: [String]) async throws -> [[UInt8]] {
        let hashes = hashes + sessions.flatMap { ["session:\($0)", "claims:\($0)"] }
        // A finite set of garbage, so that the same text comes twice.
        let texts: [[UInt8]] =
            ["", "garbage", "0", "-1", "1e300", "nan", "a b\"c\n", "mark"].map { Array($0.utf8) }
            + [play.noise(20), play.noise(5000), [0, 255, 254]]
        func bytes(_ name: String) -> [UInt8] { Array(Play.key(name).utf8) }
        for name in hashes { try await play.write("HSETNX", [bytes(name), play.pick(texts), play.pick(texts)]) }
        for name in lines {
            try await play.write("RPUSH", [bytes(name), play.pick(texts)])
            try await play.write("LPUSH", [bytes(name), play.pick(texts)])
        }
        for name in sorted {
            let score = play.pick(["0", "1e15", "-5", "inf"])
            try await play.write("ZADD", [bytes(name), Array(score.utf8), play.pick(texts)])
        }
        try await play.write("SADD", [bytes("idle"), play.pick(texts)])
        try await play.write("SADD", [Array("errand:queues".utf8), play.pick(texts)])
        let forged = Array(#"{"event":"finished","id":"forged","worker":"x","attempt":1}"#.utf8)
        for channel in ["events"] + sessions.map({ "hints:\($0)" }) {
            for message in [play.pick(texts), Array("w".utf8), Array("s".utf8), forged, play.noise(100_000)] {
                try await play.write("PUBLISH", [bytes(channel), message])
            }
        }
        play.struck()
        return texts
    }

    /// The console's calls answer in spite of it all.
    private static func see(_ play: Play) async throws {
        _ = try await play.console.queues()
        for state in JobState.allCases {
            var cursor: Int? = 0
            while let from = cursor {
                cursor = try await play.console.jobs(in: state, on: Play.queue, from: from, count: 50).next
            }
        }
        _ = try await play.console.inspect(["garbage", "0", "nothing"], on: Play.queue)
        play.expect(try await !play.audit().isEmpty, "the audit found nothing")
    }

    /// Repairs until nothing is found; then what is dead or belongs to nobody is thrown away.
    private static func mend(_ play: Play, _ server: RedisServer, _ garbage: Set<[UInt8]>) async throws {
        try await eventually("the queue is mended", within: .seconds(30)) {
            try await play.console.audit(Play.queue, repair: true).isEmpty
        }
        while try await play.console.clear(Play.queue) > 0 {}
        let dead = try await play.console.jobs(in: .dead, on: Play.queue, from: 0, count: 500).jobs.map(\.id)
        _ = try await play.console.delete(dead, on: Play.queue)
        // Ids that are none cannot be deleted through the console's checks; an operator does it by hand. Nothing else is thrown away:
        // what good jobs have left behind must show.
        let hashes = [
            "body", "errors", "failures", "crashes", "alone", "settings", "stops", "named", "names", "parked",
        ]
        for key in hashes { try await play.write("HDEL", [Array(Play.key(key).utf8)] + garbage) }
        try await play.write("ZREM", [Array(Play.key("dead").utf8)] + garbage)
        try server.run("DEL", Play.key("parked:nobody-knows-this"))
        try server.run("HDEL", Play.key("parked"), "nobody-knows-this")
        _ = try await play.console.audit(Play.queue, repair: true)
    }
}

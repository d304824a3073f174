import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Workers that lack what the machine gives: files, threads, a right clock, a session of their own.
extension Scenario {
    static let starvedWorkers = [
        Scenario("F13", "no file can be opened any more", needs: [.prlimit]) { play in
            let server = try play.server()
            let worker = try await play.worker()
            try await play.push(20, "mark")
            try await play.drain()
            // Its connections are closed, and it may open no other.
            try Shell.run("prlimit --pid \(worker.pid) --nofile=3:4096")
            for kind in ["normal", "pubsub"] { try server.run("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes") }
            try await play.push(20, "mark")
            let before = try ticks(of: worker)
            try await Task.sleep(for: .seconds(3))
            let share = Double(try ticks(of: worker) - before) / 300
            play.expect(share < 0.2, "it used \(Int(share * 100)) % of a processor while it could not connect")
            play.struck(try await play.status().ready > 0 ? 1 : 0)
            try Shell.run("prlimit --pid \(worker.pid) --nofile=4096:4096")
            try await play.recovers("it works again", within: .seconds(10)) { try await play.status().ready == 0 }
            play.expect(worker.isRunning, "it ended")
        },
        Scenario("F14", "no thread can be made at its start", needs: [.controlGroups]) { play in
            play.rules { $0.workersLeaveCleanly = false }
            try play.server()
            try await play.push(20, "nap") { $0.milliseconds = 20 }
            for limit in [1, 2, 3, 4, 6, 8, 12] {
                let group = try ControlGroup(play, "pids")
                try group.set("pids.max", "\(limit)")
                let worker = try await play.worker {
                    $0.prefix = group.prefix
                    $0.waits = false
                }
                try await Task.sleep(for: .milliseconds(1500))
                let refused = try group.get("pids.events").trimmed
                if refused != "max 0" { play.struck() }
                // Whether it works with so few threads or not: it either serves or is gone, and holds nothing for ever.
                worker.signal(SIGKILL)
                _ = try await worker.end()
            }
            try await play.worker()
        },
        Scenario("F15", "workers' clocks are an hour ahead and behind", quick: true, needs: [.faketime]) { play in
            play.rules {
                $0.forbidsDuplicates = true
                // The ledger's times are the moved clocks'; the server's own are looked at below.
                $0.earlyTolerance = .max / 4
            }
            try play.server()
            try await play.console.configure(Play.queue, QueueSettings(publishesStarts: true))
            let events = try await play.listen()
            let clocks = ["+1h", "-1h", "+1h x1.5"]
            for clock in clocks {
                let prefix = try Faketime.prefix(clock)
                try await play.worker { $0.prefix = prefix }
            }
            let jobs = try (0..<40).map { number in
                var options = JobOptions()
                options.milliseconds = 300
                options.delay = Int64(500 + 100 * number)
                return try play.job("nap", options)
            }
            try await play.push(jobs)
            try await play.drain()
            let due = Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0.notBefore) })
            try await eventually("every start is heard") { Set(events.all("started").map(\.id)) == Set(due.keys) }
            for event in events.all("started") {
                let early = (due[event.id] ?? 0) - event.at_ms
                play.expect(early <= 0, "\(event.id) was handed out \(early) ms early")
            }
            let skewed = play.ledger.lines.filter { abs($0.milliseconds - Play.now) > 1_800_000 }
            play.struck(Set(skewed.map(\.pid)).count)
            let totals = try await play.totals()
            play.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
        },
        Scenario("F16", "a worker's whole machine is suspended for five leases", needs: [.controlGroups]) { play in
            try play.server()
            let group = try ControlGroup(play, "freezer")
            let first = try await play.worker {
                $0.concurrency = 2
                $0.lease = 1000
            }
            try group.add(first.pid)
            let ids = try await play.push(2, "nap") { $0.milliseconds = 800 }
            try await eventually("both run") { ids.allSatisfy { play.ledger.begun[$0] != nil } }
            try group.set("freezer.state", "FROZEN")
            try await play.worker { $0.lease = 1000 }
            try await play.recovers("the jobs are done elsewhere", within: .seconds(10)) {
                ids.allSatisfy { play.ledger.ended[$0] != nil }
            }
            try await Task.sleep(for: .seconds(3))
            let before = try await play.totals()
            try group.set("freezer.state", "THAWED")
            try await play.registered(first, times: 2)
            play.struck()
            let after = try await play.totals()
            play.expect(after["finished"] == before["finished"], "a finish of the old session counted")
        },
        Scenario("F17", "many idle workers lose their connections at once", quick: true) { play in
            let server = try play.server()
            let count = play.size(quick: 12, full: 64)
            for _ in 0..<count { try await play.worker { $0.waits = false } }
            try await eventually("all are registered", within: .seconds(60)) {
                try await play.console.status(of: Play.queue).sessions.count == count
            }
            let idle = try await commandsASecond(server)
            play.expect(idle <= 15 * count, "\(count) idle workers send \(idle) commands a second")
            play.note("\(count) idle workers send \(idle) commands a second")
            let connected = try server.count("total_connections_received", in: "stats")
            for kind in ["normal", "pubsub"] { try server.run("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes") }
            play.struck()
            try await play.push(count, "mark")
            try await play.recovers("they work again", within: .seconds(10)) { try await play.status().ready == 0 }
            try await Task.sleep(for: .seconds(2))
            let made = try server.count("total_connections_received", in: "stats") - connected
            play.expect(made < 6 * count + 20, "\(count) workers made \(made) connections")
            let dead = try await play.console.status(of: Play.queue).sessions.count
            play.expect(dead == count, "\(dead) of \(count) sessions are left")
        },
        Scenario("F18", "two processes have the same session id", quick: true) { play in
            let server = try play.server()
            let brokers = try (0..<2).map { _ in try play.connect(server.url) }
            let sessions = (0..<2).map { number in
                Session(
                    id: "copied-session",
                    host: "one",
                    pid: Int32(100 + number),
                    concurrency: 1,
                    queues: [Play.queue],
                    lease: .seconds(2),
                    operations: [:]
                )
            }
            try await brokers[0].register(sessions[0], on: Play.queue)
            do throws(BrokerError) {
                try await brokers[1].register(sessions[1], on: Play.queue)
                play.expect(false, "the second process was let in under the first one's session")
            } catch {
                play.expect(error.code == .refused, "\(error)")
                play.struck()
            }
            try await brokers[0].release(sessions[0], on: Play.queue)
        },
    ]

    /// The processor time that a process has used, in hundredths of a second.
    private static func ticks(of worker: Program) throws -> Int {
        let words = try Shell.run("cut -d')' -f2 /proc/\(worker.pid)/stat").split(separator: " ")
        guard words.count > 12, let user = Int(words[11]), let system = Int(words[12]) else {
            throw TestFailure("no processor time of \(worker.pid)")
        }
        return user + system
    }

    private static func commandsASecond(_ server: RedisServer) async throws -> Int {
        // What scripts do inside counts elsewhere.
        let before = try server.calls("evalsha")
        try await Task.sleep(for: .seconds(3))
        return try (server.calls("evalsha") - before) / 3
    }
}

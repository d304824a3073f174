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
            let ids = try await play.push(20, "mark")
            let before = try ticks(of: worker)
            try await Task.sleep(for: .seconds(3))
            let share = Double(try ticks(of: worker) - before) / 300
            play.expect(share < 0.2, "it used \(Int(share * 100)) % of a processor while it could not connect")
            play.struck(try await play.status().ready > 0 ? 1 : 0)
            try Shell.run("prlimit --pid \(worker.pid) --nofile=4096:4096")
            try await play.recovers("it works again", within: .seconds(5)) {
                let ended = play.ledger.ended
                return ids.allSatisfy { ended[$0] != nil }
            }
            play.expect(worker.isRunning, "it ended")
        },
        Scenario("F14", "no thread can be made at its start", needs: [.controlGroups]) { play in
            play.rules {
                $0.workersMayEnd = true
                $0.workersLeaveCleanly = false
            }
            try play.server()
            try await play.push(20, "nap") { $0.milliseconds = 20 }
            for threads in [1, 2, 3, 4, 6, 8, 12] { try await starve(play, threads: threads) }
            try await play.worker()
        },
        Scenario(
            "F15",
            "workers' clocks are an hour ahead and behind, and jump; so is a producer's",
            quick: true,
            needs: [.faketime],
            wrongClocks
        ),
        Scenario("F16", "a worker's whole machine is suspended for five leases", needs: [.controlGroups]) { play in
            let server = try play.server()
            let group = try ControlGroup(play, "freezer")
            let proxy = try play.proxy(server)
            let first = try await play.worker {
                $0.url = proxy.url
                $0.concurrency = 2
                $0.lease = 1000
            }
            try group.add(first.pid)
            let ids = try await play.push(2, "nap") { $0.milliseconds = 1500 }
            try await eventually("both run") { ids.allSatisfy { play.ledger.begun[$0] != nil } }
            try await proxy.twoHeartbeats()
            try group.set("freezer.state", "FROZEN")
            try await play.worker { $0.lease = 1000 }
            try await play.recovers("the jobs are done elsewhere", within: .seconds(10)) {
                ids.allSatisfy { play.ledger.ended[$0] != nil }
            }
            try await Task.sleep(for: .seconds(3))
            let before = try await play.totals()
            let refused = play.ledger.refused
            proxy.holdHeartbeats()
            try group.set("freezer.state", "THAWED")
            try await play.registered(first, times: 2)
            proxy.release()
            play.struck(play.ledger.refused - refused, or: "the worker reported nothing of its old session")
            let after = try await play.totals()
            play.expect(after["finished"] == before["finished"], "a finish of the old session counted")
        },
        // Two processes of one host and one process id cannot be there at once, so a copy made by a fork is told apart as these are.
        Scenario("F18", "another process, by its process id, asks for a session id that is taken", quick: true) {
            play in
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

    /// With too few threads it works all the same, goes on when there are more, or ends and says why. It must not stay behind
    /// half begun.
    private static func starve(_ play: Play, threads: Int) async throws {
        let group = try ControlGroup(play, "pids")
        try group.set("pids.max", "\(threads)")
        let worker = try await play.worker {
            $0.prefix = group.prefix
            $0.waits = false
        }
        try await Task.sleep(for: .milliseconds(1500))
        if try group.get("pids.events").trimmed != "max 0" { play.struck() }
        try group.set("pids.max", "max")
        let ids = try await play.push(4, "mark")
        let isOver = { ids.allSatisfy { play.ledger.ended[$0] != nil } }
        try? await eventually("it works or has ended", within: .seconds(30)) { isOver() || !worker.isRunning }
        if let status = worker.status {
            play.expect(status < 128 && !worker.lines.isEmpty, "with \(threads) threads the worker \(worker.account)")
        } else {
            play.expect(isOver(), "with \(threads) threads, and then with more, the worker \(worker.account)")
        }
        worker.signal(SIGKILL)
        _ = try await worker.end()
    }

    private static func wrongClocks(_ play: Play) async throws {
        play.rules {
            $0.forbidsDuplicates = true
            // The ledger's times are the moved clocks'; the server's own are looked at below.
            $0.earlyTolerance = .max / 4
        }
        let server = try play.server()
        try await play.console.createQueue(Play.queue)
        try await play.console.configure(Play.queue, QueueSettings(publishesStarts: true))
        let events = try await play.listen()
        for clock in ["+1h", "-1h", "+1h x1.5"] {
            let prefix = try Faketime.prefix(clock)
            try await play.worker { $0.prefix = prefix }
        }
        let pulse = try await Pulse(play)
        let began = Play.now
        let clock = try MovableClock(play)
        let jumping = try await play.worker { $0.prefix = clock.prefix }
        let jobs = try (0..<40).map { number in
            var options = JobOptions()
            options.milliseconds = 300
            options.delay = Int64(500 + 100 * number)
            return try play.job("nap", options)
        }
        try await play.push(jobs)
        for moved in ["+7200", "-7200"] {
            try await Task.sleep(for: .milliseconds(1300))
            try clock.set(moved)
        }
        let delayed = try await pushFromTheFuture(play, server)
        try await play.drain()
        try await pulse.stop()
        try await judgeTicks(play, pulse, events, since: began)
        var due = Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0.notBefore) })
        due[delayed.id] = delayed.notBefore
        let started = { events.all("started").filter { !$0.id.hasPrefix("tick-") } }
        try await eventually("every start is heard") { Set(started().map(\.id)) == Set(due.keys) }
        for event in started() {
            let early = (due[event.id] ?? 0) - event.at_ms
            play.expect(early <= 0, "\(event.id) was handed out \(early) ms early")
        }
        judgeClocks(play, jumping)
        let totals = try await play.totals()
        play.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
    }

    /// A tick comes when its time has come by the server's clock, and one a second.
    private static func judgeTicks(
        _ play: Play,
        _ pulse: Pulse,
        _ events: HeardEvents,
        since began: Int64
    ) async throws {
        let seconds = Int(Play.now - began) / 1000
        let pushed = try await pulse.record().pushed
        play.expect(pushed >= 2 && pushed <= seconds + 1, "in \(seconds) s it ticked \(pushed) times")
        for event in events.all("started") where event.id.hasPrefix("tick-") {
            // Its id begins with its time.
            let time = event.id.split(separator: "-").dropFirst().first.flatMap { Int64($0) } ?? .max
            play.expect(event.at_ms >= time, "\(event.id) was handed out at \(event.at_ms)")
        }
    }

    /// A producer whose clock is an hour ahead delays a job: it must be due by the server's clock.
    ///
    /// - Returns: the job's id, and before when it must not begin.
    private static func pushFromTheFuture(
        _ play: Play,
        _ server: RedisServer
    ) async throws -> (id: String, notBefore: Int64) {
        let (id, before) = ("from-the-future", Play.now)
        let words = ["push", "mark", "--queue", Play.queue, "--delay", "2s", "--id", id, "--redis", server.url]
        let producer = try play.program(
            "/usr/bin/env",
            try Faketime.prefix("+1h") + [Program.path(of: "errand-producer")] + words
        )
        let status = try await producer.end()
        let after = Play.now
        play.expect(status == 0, "errand-producer ended with \(status): \(producer.lines.suffix(2))")
        play.accounts.adopt(id)
        let record = try await play.console.inspect([id], on: Play.queue)[0]
        if record?.state == .scheduled {
            let late = (record?.at ?? .max) - (after + 2000)
            play.expect(late <= 0, "what a producer of another time delays is due \(late) ms too late")
        }
        try await eventually("the delayed job begins", within: .seconds(10)) { play.ledger.begun[id] != nil }
        return (id, before + 2000)
    }

    /// The workers' clocks were wrong, and that of one was moved amid its jobs.
    private static func judgeClocks(_ play: Play, _ jumping: Program) {
        let skews = play.ledger.lines.map { (pid: $0.pid, hours: ($0.milliseconds - Play.now) / 3_000_000) }
        play.struck(Set(skews.filter { $0.hours != 0 }.map { $0.pid }).count, or: "no clock was wrong")
        let jumps = Set(skews.filter { $0.pid == jumping.pid }.map { $0.hours }).count - 1
        play.struck(jumps, or: "no clock jumped amid the jobs")
    }

    /// The processor time that a process has used, in hundredths of a second.
    private static func ticks(of worker: Program) throws -> Int {
        let words = try Shell.run("cut -d')' -f2 /proc/\(worker.pid)/stat").split(separator: " ")
        guard words.count > 12, let user = Int(words[11]), let system = Int(words[12]) else {
            throw TestFailure("no processor time of \(worker.pid)")
        }
        return user + system
    }
}

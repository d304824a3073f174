import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Workers without resources: files, threads, a right clock, a session of their own.
extension Scenario {
    static let starvedWorkers = [
        Scenario("F13", "no more files can be opened", needs: [.prlimit]) { context in
            let server = try context.server()
            let worker = try await context.worker()
            try await context.push(20, "mark")
            try await context.drain()
            // Its connections are closed, and it cannot open others.
            try Shell.run("prlimit --pid \(worker.pid) --nofile=3:4096")
            for kind in ["normal", "pubsub"] { try server.run("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes") }
            let ids = try await context.push(20, "mark")
            let before = try ticks(of: worker)
            try await Task.sleep(for: .seconds(3))
            let share = Double(try ticks(of: worker) - before) / 300
            context.expect(share < 0.2, "it used \(Int(share * 100)) % of a processor while it could not connect")
            context.injected(try await context.status().ready > 0 ? 1 : 0)
            try Shell.run("prlimit --pid \(worker.pid) --nofile=4096:4096")
            try await context.recovers("it works again", within: .seconds(5)) {
                let ended = context.ledger.ended
                return ids.allSatisfy { ended[$0] != nil }
            }
            context.expect(worker.isRunning, "it ended")
        },
        Scenario("F14", "no thread can be created at its start", needs: [.controlGroups]) { context in
            context.rules {
                $0.workersMayEnd = true
                $0.workersLeaveCleanly = false
            }
            try context.server()
            try await context.push(20, "nap") { $0.milliseconds = 20 }
            for threads in [1, 2, 3, 4, 6, 8, 12] { try await starve(context, threads: threads) }
            try await context.worker()
        },
        Scenario(
            "F15",
            "workers' clocks are an hour ahead and behind, and jump; so is a producer's",
            quick: true,
            needs: [.faketime],
            wrongClocks
        ),
        Scenario("F16", "a worker's whole machine is suspended for five leases", needs: [.controlGroups]) { context in
            let server = try context.server()
            let group = try ControlGroup(context, "freezer")
            let proxy = try context.proxy(server)
            let first = try await context.worker {
                $0.url = proxy.url
                $0.concurrency = 2
                $0.lease = 1000
            }
            try group.add(first.pid)
            let ids = try await context.push(2, "nap") { $0.milliseconds = 1500 }
            try await eventually("both run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
            try await proxy.twoHeartbeats()
            try group.set("freezer.state", "FROZEN")
            try await context.worker { $0.lease = 1000 }
            try await context.recovers("the jobs are done elsewhere", within: .seconds(10)) {
                ids.allSatisfy { context.ledger.ended[$0] != nil }
            }
            try await Task.sleep(for: .seconds(3))
            let before = try await context.totals()
            let refused = context.ledger.refused
            proxy.holdHeartbeats()
            try group.set("freezer.state", "THAWED")
            try await context.registered(first, times: 2)
            proxy.release()
            context.injected(context.ledger.refused - refused, or: "the worker reported nothing of its old session")
            let after = try await context.totals()
            context.expect(after["finished"] == before["finished"], "a finish of the old session counted")
        },
        // Two processes of one host cannot have the same process id, so a forked copy is detected like these.
        Scenario("F18", "another process registers an existing session id with its own process id", quick: true) {
            context in
            let server = try context.server()
            let brokers = try (0..<2).map { _ in try context.connect(server.url) }
            let sessions = (0..<2).map { number in
                Session(
                    id: "copied-session",
                    host: "one",
                    pid: Int32(100 + number),
                    concurrency: 1,
                    queues: [ScenarioContext.queue],
                    lease: .seconds(2),
                    operations: [:]
                )
            }
            try await brokers[0].register(sessions[0], on: ScenarioContext.queue)
            do throws(BrokerError) {
                try await brokers[1].register(sessions[1], on: ScenarioContext.queue)
                context.expect(false, "the second process was let in under the first one's session")
            } catch {
                context.expect(error.code == .refused, "\(error)")
                context.injected()
            }
            try await brokers[0].release(sessions[0], on: ScenarioContext.queue)
        },
    ]

    /// With too few threads it works nevertheless, continues when there are more, or exits with the reason. It must not
    /// stay half started.
    private static func starve(_ context: ScenarioContext, threads: Int) async throws {
        let group = try ControlGroup(context, "pids")
        try group.set("pids.max", "\(threads)")
        let worker = try await context.worker {
            $0.prefix = group.prefix
            $0.waits = false
        }
        try await Task.sleep(for: .milliseconds(1500))
        if try group.get("pids.events").trimmed != "max 0" { context.injected() }
        try group.set("pids.max", "max")
        let ids = try await context.push(4, "mark")
        let isOver = { ids.allSatisfy { context.ledger.ended[$0] != nil } }
        try? await eventually("it works or has ended", within: .seconds(30)) { isOver() || !worker.isRunning }
        if let status = worker.status {
            context.expect(
                status < 128 && !worker.lines.isEmpty,
                "with \(threads) threads the worker \(worker.account)"
            )
        } else {
            context.expect(isOver(), "with \(threads) threads, and then with more, the worker \(worker.account)")
        }
        worker.signal(SIGKILL)
        _ = try await worker.end()
    }

    private static func wrongClocks(_ context: ScenarioContext) async throws {
        context.rules {
            $0.forbidsDuplicates = true
            // The ledger's times are those of the changed clocks; the server's are checked below.
            $0.earlyTolerance = .max / 4
        }
        let server = try context.server()
        try await context.console.createQueue(ScenarioContext.queue)
        try await context.console.configure(ScenarioContext.queue, QueueSettings(publishesStarts: true))
        let events = try await context.listen()
        for clock in ["+1h", "-1h", "+1h x1.5"] {
            let prefix = try Faketime.prefix(clock)
            try await context.worker { $0.prefix = prefix }
        }
        let pulse = try await Pulse(context)
        let began = ScenarioContext.now
        let clock = try MovableClock(context)
        let jumping = try await context.worker { $0.prefix = clock.prefix }
        let jobs = try (0..<40).map { number in
            var options = JobOptions()
            options.milliseconds = 300
            options.delay = Int64(500 + 100 * number)
            return try context.job("nap", options)
        }
        try await context.push(jobs)
        for moved in ["+7200", "-7200"] {
            try await Task.sleep(for: .milliseconds(1300))
            try clock.set(moved)
        }
        let delayed = try await pushFromTheFuture(context, server)
        try await context.drain()
        try await pulse.stop()
        try await judgeTicks(context, pulse, events, since: began)
        var due = Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0.notBefore) })
        due[delayed.id] = delayed.notBefore
        let started = { events.all("started").filter { !$0.id.hasPrefix("tick-") } }
        try await eventually("every start is heard") { Set(started().map(\.id)) == Set(due.keys) }
        for event in started() {
            let early = (due[event.id] ?? 0) - event.at_ms
            context.expect(early <= 0, "\(event.id) was claimed \(early) ms early")
        }
        judgeClocks(context, jumping)
        let totals = try await context.totals()
        context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were recovered")
    }

    /// Checks that ticks come on time by the server's clock, one a second.
    private static func judgeTicks(
        _ context: ScenarioContext,
        _ pulse: Pulse,
        _ events: HeardEvents,
        since began: Int64
    ) async throws {
        let seconds = Int(ScenarioContext.now - began) / 1000
        let pushed = try await pulse.record().pushed
        context.expect(pushed >= 2 && pushed <= seconds + 1, "in \(seconds) s it ticked \(pushed) times")
        for event in events.all("started") where event.id.hasPrefix("tick-") {
            // Its id begins with its time.
            let time = event.id.split(separator: "-").dropFirst().first.flatMap { Int64($0) } ?? .max
            context.expect(event.at_ms >= time, "\(event.id) was claimed at \(event.at_ms)")
        }
    }

    /// A producer whose clock is an hour ahead delays a job, which must be due by the server's clock.
    ///
    /// - Returns: The job's id, and the earliest time of its start.
    private static func pushFromTheFuture(
        _ context: ScenarioContext,
        _ server: RedisServer
    ) async throws -> (id: String, notBefore: Int64) {
        let (id, before) = ("from-the-future", ScenarioContext.now)
        let words = [
            "push", "mark", "--queue", ScenarioContext.queue, "--delay", "2s", "--id", id, "--redis", server.url,
        ]
        let producer = try context.program(
            "/usr/bin/env",
            try Faketime.prefix("+1h") + [Program.path(of: "errand-producer")] + words
        )
        let status = try await producer.end()
        let after = ScenarioContext.now
        context.expect(status == 0, "errand-producer ended with \(status): \(producer.lines.suffix(2))")
        context.accounts.adopt(id)
        let record = try await context.console.inspect([id], on: ScenarioContext.queue)[0]
        if record?.state == .scheduled {
            let late = (record?.at ?? .max) - (after + 2000)
            context.expect(late <= 0, "what a producer of another time delays is due \(late) ms too late")
        }
        try await eventually("the delayed job begins", within: .seconds(10)) { context.ledger.begun[id] != nil }
        return (id, before + 2000)
    }

    /// Checks that the workers' clocks were wrong, and that one was changed during its jobs.
    private static func judgeClocks(_ context: ScenarioContext, _ jumping: Program) {
        let skews = context.ledger.lines.map {
            (pid: $0.pid, hours: ($0.milliseconds - ScenarioContext.now) / 3_000_000)
        }
        context.injected(Set(skews.filter { $0.hours != 0 }.map { $0.pid }).count, or: "no clock was wrong")
        let jumps = Set(skews.filter { $0.pid == jumping.pid }.map { $0.hours }).count - 1
        context.injected(jumps, or: "no clock jumped amid the jobs")
    }

    /// The processor time of a process, in hundredths of a second.
    private static func ticks(of worker: Program) throws -> Int {
        let words = try Shell.run("cut -d')' -f2 /proc/\(worker.pid)/stat").split(separator: " ")
        guard words.count > 12, let user = Int(words[11]), let system = Int(words[12]) else {
            throw TestFailure("no processor time of \(worker.pid)")
        }
        return user + system
    }
}

import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Handlers that use up what the worker itself needs: processors, threads, memory.
extension Scenario {
    static let busyWorkers = [
        Scenario(
            "F05",
            "handlers and other processes occupy every processor for three leases",
            quick: true,
            alone: true
        ) {
            context in
            context.rules {
                $0.forbidsGrace = true
                $0.forbidsDuplicates = true
                $0.forbidsOverlaps = true
            }
            try context.server()
            let workers = try await context.workers(2) { $0.lease = 2000 }
            let others = try (0..<ProcessInfo.processInfo.processorCount).map { _ in
                try context.program("/bin/sh", ["-c", "while :; do :; done"])
            }
            let before = try ProcessorTime()
            let ids = try await context.push(8, "spin") { $0.milliseconds = 6000 }
            try await context.recovers("the handlers end", within: .seconds(30)) {
                ids.allSatisfy { context.ledger.ended[$0] != nil }
            }
            let idle = try ProcessorTime().idleShare(since: before)
            context.injected(
                idle < 10 ? ids.count : 0,
                or: "for \(idle) % of the time the processors had nothing to do"
            )
            for other in others { other.signal(SIGKILL) }
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        },
        Scenario("F06", "handlers block every thread of the task pool for three leases", quick: true, alone: true) {
            context in
            context.rules {
                $0.forbidsGrace = true
                $0.forbidsDuplicates = true
                $0.forbidsOverlaps = true
            }
            try context.server()
            let handlers = 2 * ScenarioContext.poolWidth
            let worker = try await context.worker {
                $0.concurrency = handlers
                $0.watchesPool = true
            }
            let ids = try await context.push(handlers, "blockpool") {
                $0.milliseconds = 6000
                $0.timeout = .seconds(120)
            }
            try await eventually("no task finds a thread", within: .seconds(30)) { context.poolSilence(of: worker) > 0 }
            // Another worker would recover the jobs if a heartbeat were late.
            try await context.worker { $0.concurrency = 1 }
            let beat = try await context.oldestBeat(of: worker, within: .seconds(5))
            let silence = context.poolSilence(of: worker)
            context.injected(silence > 3000 ? 1 : 0, or: "a task found a thread after \(silence) ms")
            context.expectSteady(beat, lease: 2000)
            try await context.recovers("the handlers end", within: .seconds(90)) {
                ids.allSatisfy { context.ledger.ended[$0] != nil }
            }
            context.expect(context.sessions(of: worker).count == 1, "the session was lost")
        },
        Scenario("F06b", "handlers block every thread of the task pool, and never return", quick: true, alone: true) {
            context in
            context.rules { $0.workersMayEnd = true }
            try context.server()
            let handlers = 2 * ScenarioContext.poolWidth
            let workers = try await WorkerGroup(context, 1) {
                $0.concurrency = handlers
                $0.stuckAfter = 3000
                $0.watchesPool = true
            }
            let gate = context.directory + "/gate"
            try await context.push(handlers, "holdpool") {
                $0.gate = gate
                $0.timeout = .seconds(120)
            }
            try await eventually("the worker gives itself up", within: .seconds(40)) { await workers.ends.contains(70) }
            try Data().write(to: URL(fileURLWithPath: gate))
            try await context.push(20, "mark")
            try await context.drain(within: .seconds(120))
            await workers.dismiss()
            let stuck = context.startedWorkers.filter { $0.status == 70 }
            let silence = stuck.map(context.poolSilence).min() ?? 0
            // It exits when its own task has waited for 3 s; this one was sent at about that time.
            context.injected(silence > 2000 ? stuck.count : 0, or: "a task found a thread after \(silence) ms")
            let reported = stuck.filter { $0.lines.contains { $0.hasPrefix("stuck ") && $0.contains("the task pool") } }
            context.expect(
                reported.count == stuck.count,
                "a worker gave itself up and did not say that its pool is blocked"
            )
        },
        Scenario(
            "F06c",
            "handlers block every thread of the task pool, and return before the lease ends",
            quick: true,
            alone: true
        ) {
            context in
            context.rules { $0.forbidsDuplicates = true }
            try context.server()
            let handlers = 2 * ScenarioContext.poolWidth
            let worker = try await context.worker {
                $0.concurrency = handlers
                $0.stuckAfter = 2000
                $0.lease = 8000
                $0.watchesPool = true
                $0.goesOn = true
            }
            let ids = try await context.push(handlers, "blockpool") {
                $0.milliseconds = 6000
                $0.timeout = .seconds(120)
            }
            try await eventually("its pool is found blocked", within: .seconds(30)) {
                worker.lines.contains { $0.hasPrefix("stuck ") }
            }
            context.injected()
            // It sends heartbeats again, so its new claims are not recovered when the old lease would have ended.
            try await context.recovers("the handlers come back", within: .seconds(60)) {
                ids.allSatisfy { context.ledger.ended[$0] != nil }
            }
            let later = try await context.push(2, "nap") {
                $0.milliseconds = 9000; $0.timeout = .seconds(60)
            }
            try await eventually("all jobs end") { later.allSatisfy { context.ledger.ended[$0] != nil } }
            context.expect(context.sessions(of: worker).count == 1, "the session was lost")
            let totals = try await context.totals()
            context.expect(
                totals["recovered"] == 0,
                "\(totals["recovered"]) jobs were recovered as those of a dead worker"
            )
        },
        Scenario("F07", "a handler never returns", quick: true) { context in
            try context.server()
            let worker = try await context.worker { $0.concurrency = 1 }
            let began = ContinuousClock.now
            let wedged = try await context.push(1, "wedge") {
                $0.timeout = .seconds(1)
                $0.ends = false
            }
            let others = try await context.push(20, "mark")
            try await context.recovers("its slot is open again", within: .seconds(10), since: began) {
                others.allSatisfy { context.ledger.ended[$0] != nil }
            }
            let record = try await context.console.inspect(wedged, on: ScenarioContext.queue)[0]
            context.expect(record?.state == .dead, "the wedged job is \(record?.state.rawValue ?? "gone")")
            let totals = try await context.totals()
            context.expect(totals["timed_out"] == 1, "\(totals["timed_out"]) time-outs")
            context.injected(worker.isRunning ? 1 : 0)
            _ = try await context.console.delete(wedged, on: ScenarioContext.queue)
        },
        Scenario("F07b", "too many handlers never return: the worker exits, to be restarted", quick: true) {
            context in
            context.rules { $0.workersMayEnd = true }
            try context.server()
            let workers = try await WorkerGroup(context, 1) {
                $0.concurrency = 4
                $0.overruns = 6
                $0.grace = 2000
            }
            let wedged = try await context.push(8, "wedge") {
                $0.timeout = .milliseconds(500)
                $0.ends = false
            }
            try await context.recovers("the worker gives up", within: .seconds(20)) { await workers.ends.contains(70) }
            context.injected()
            try await context.push(20, "mark")
            try await context.drain()
            await workers.dismiss()
            let dead = try await context.status().dead
            context.expect(dead == wedged.count, "\(dead) are dead")
            _ = try await context.console.delete(wedged, on: ScenarioContext.queue)
        },
    ]
}

import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Handlers that take what the worker itself needs: processors, threads, the way back.
extension Scenario {
    static let busyWorkers = [
        Scenario("F05", "handlers and others burn every processor for three leases", quick: true) { play in
            play.rules {
                $0.forbidsDuplicates = true
                $0.forbidsOverlaps = true
            }
            try play.server()
            let workers = try await play.workers(2) { $0.lease = 2000 }
            let others = try (0..<2).map { _ in try play.program("/bin/sh", ["-c", "while :; do :; done"]) }
            let ids = try await play.push(8, "spin") { $0.milliseconds = 6000 }
            try await play.recovers("the handlers end", within: .seconds(30)) {
                ids.allSatisfy { play.ledger.ended[$0] != nil }
            }
            play.struck(ids.count)
            for other in others { other.signal(SIGKILL) }
            play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 }, "a session was lost")
        },
        Scenario("F06", "handlers block every thread of the task pool for three leases", quick: true) { play in
            play.rules {
                $0.forbidsDuplicates = true
                $0.forbidsOverlaps = true
            }
            try play.server()
            let worker = try await play.worker { $0.concurrency = 16 }
            let ids = try await play.push(8, "blockpool") {
                $0.milliseconds = 6000
                $0.timeout = .seconds(60)
            }
            try await eventually("the pool is blocked") { play.ledger.counts.begun >= 2 }
            // Another would take the jobs if a beat were late.
            try await play.worker { $0.concurrency = 1 }
            try await Task.sleep(for: .seconds(5))
            let beat = try await play.console.status(of: Play.queue).sessions.map(\.lastBeatMilliseconds).max() ?? 0
            play.expect(beat < 1000, "the last beat is \(beat) ms old")
            play.struck()
            try await play.recovers("the handlers end", within: .seconds(90)) {
                ids.allSatisfy { play.ledger.ended[$0] != nil }
            }
            play.expect(play.sessions(of: worker).count == 1, "the session was lost")
        },
        Scenario("F06b", "handlers block every thread of the task pool, and do not come back", quick: true) { play in
            try play.server()
            let crew = try await Crew(play, 1) {
                $0.concurrency = 8
                $0.stuckAfter = 3000
            }
            try await play.push(3, "blockpool") {
                $0.milliseconds = 8000
                $0.timeout = .seconds(30)
            }
            try await eventually("the worker gives itself up", within: .seconds(40)) { await crew.ends.contains(70) }
            play.struck()
            try await play.push(20, "mark")
            try await play.drain(within: .seconds(120))
            await crew.dismiss()
        },
        Scenario("F07", "a handler never returns", quick: true) { play in
            try play.server()
            let worker = try await play.worker { $0.concurrency = 1 }
            let began = ContinuousClock.now
            let wedged = try await play.push(1, "wedge") {
                $0.timeout = .seconds(1)
                $0.ends = false
            }
            let others = try await play.push(20, "mark")
            try await play.recovers("its slot is open again", within: .seconds(10), since: began) {
                others.allSatisfy { play.ledger.ended[$0] != nil }
            }
            let record = try await play.console.inspect(wedged, on: Play.queue)[0]
            play.expect(record?.state == .dead, "the wedged job is \(record?.state.rawValue ?? "gone")")
            let totals = try await play.totals()
            play.expect(totals["timed_out"] == 1, "\(totals["timed_out"]) time-outs")
            play.struck(worker.isRunning ? 1 : 0)
            _ = try await play.console.delete(wedged, on: Play.queue)
        },
        Scenario("F07b", "too many handlers never return: the worker ends, to be started anew", quick: true) { play in
            try play.server()
            let crew = try await Crew(play, 1) {
                $0.concurrency = 4
                $0.overruns = 6
                $0.grace = 2000
            }
            let wedged = try await play.push(8, "wedge") {
                $0.timeout = .milliseconds(500)
                $0.ends = false
            }
            try await play.recovers("the worker gives up", within: .seconds(20)) { await crew.ends.contains(70) }
            play.struck()
            try await play.push(20, "mark")
            try await play.drain()
            await crew.dismiss()
            let dead = try await play.status().dead
            play.expect(dead == wedged.count, "\(dead) are dead")
            _ = try await play.console.delete(wedged, on: Play.queue)
        },
    ]
}

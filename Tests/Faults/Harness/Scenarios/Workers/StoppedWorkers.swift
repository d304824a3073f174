import Errand
import Foundation
import TestSupport

/// Workers that stand still for a time: a debugger, a virtual machine that is moved, a machine that swaps.
extension Scenario {
    static let stoppedWorkers = [
        Scenario("F03", "a worker stands still for longer than its lease, and comes back", quick: true) { play in
            let server = try play.server()
            for _ in 0..<play.size(quick: 1, full: 10) {
                let proxy = try play.proxy(server)
                let first = try await play.worker {
                    $0.url = proxy.url
                    $0.concurrency = 2
                }
                let ids = try await play.push(2, "nap") { $0.milliseconds = 2000 }
                try await eventually("both run") { ids.allSatisfy { play.ledger.begun[$0] != nil } }
                try await proxy.twoHeartbeats()
                let stopped = Play.now
                first.signal(SIGSTOP)
                let second = try await play.worker { $0.concurrency = 2 }
                try await play.recovers("the jobs are run elsewhere", within: .seconds(12)) {
                    ids.allSatisfy { play.ledger.ended[$0] != nil }
                }
                // A handler that has written its end has not yet been reported.
                try await play.drain()
                let before = try await play.totals()
                let refused = play.ledger.refused
                proxy.holdHeartbeats()
                let continued = Play.now
                first.signal(SIGCONT)
                // What it still does and reports counts for nothing; then it goes on under a new session.
                try await play.registered(first, times: 2)
                proxy.release()
                play.struck(play.ledger.refused - refused, or: "the worker reported nothing of its old session")
                let after = try await play.totals()
                play.expect(after["finished"] == before["finished"], "a finish of the old session counted")
                try await play.expectEveryoneIsBusy([first, second], concurrency: 2)
                try await play.drain()
                expectOverlap(play, of: ids, ranBy: second, within: stopped...continued)
                for worker in [first, second] { worker.signal(SIGTERM) }
                for worker in [first, second] { _ = try await worker.end() }
            }
        },
        Scenario("F04", "a worker stands still for less than its lease", quick: true) { play in
            play.rules { $0.forbidsDuplicates = true }
            try play.server()
            let workers = try await play.workers(2) { $0.lease = 4000 }
            for _ in 0..<play.size(quick: 1, full: 10) {
                var ids: [String] = []
                try await eventually("the one that is to stand still runs a job", within: .seconds(20)) {
                    ids += try await play.push(4, "nap") { $0.milliseconds = 500 }
                    try await Task.sleep(for: .milliseconds(50))
                    return play.holds(workers[0], ids)
                }
                workers[0].signal(SIGSTOP)
                let isHolding = play.holds(workers[0], ids)
                try await Task.sleep(for: .milliseconds(2000))
                let age = try await play.beatAge(of: workers[0])
                workers[0].signal(SIGCONT)
                let isStill = isHolding && age > 1900
                play.struck(isStill ? 1 : 0, or: "it held \(isHolding ? "jobs" : "none"), and beat \(age) ms before")
                try await play.recovers("they end", within: .seconds(5)) {
                    ids.allSatisfy { play.ledger.ended[$0] != nil }
                }
            }
            play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 }, "a session was lost")
        },
    ]

    /// Each job ran twice, and the second time while the worker that had begun it stood still.
    private static func expectOverlap(
        _ play: Play,
        of ids: [String],
        ranBy other: Program,
        within stop: ClosedRange<Int64>
    ) {
        let lines = play.ledger.lines.filter { ids.contains($0.id) && ["begin", "end"].contains($0.what) }
        let again = lines.filter { $0.pid == other.pid }
        play.expect(again.count == 2 * ids.count, "of \(ids.count) jobs the other worker wrote \(again.count) lines")
        let outside = again.filter { !stop.contains($0.milliseconds) }.map { "\($0.what) \($0.id)" }
        play.expect(outside.isEmpty, "two ran it while none stood still: \(outside)")
        let begun = ids.filter { play.ledger.begun[$0] != 2 }
        play.expect(begun.isEmpty, "did not begin twice: \(begun)")
    }
}

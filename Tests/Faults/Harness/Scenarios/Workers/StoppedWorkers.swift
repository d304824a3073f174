import Errand
import Foundation
import TestSupport

/// Workers that are suspended for a time: by a debugger, a migration of their virtual machine, or swapping.
extension Scenario {
    static let stoppedWorkers = [
        Scenario("F03", "a worker is suspended for longer than its lease, and continues", quick: true) { context in
            let server = try context.server()
            for _ in 0..<context.size(quick: 1, full: 10) {
                let proxy = try context.proxy(server)
                let first = try await context.worker {
                    $0.url = proxy.url
                    $0.concurrency = 2
                }
                let ids = try await context.push(2, "nap") { $0.milliseconds = 2000 }
                try await eventually("both run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
                try await proxy.twoHeartbeats()
                let stopped = ScenarioContext.now
                first.signal(SIGSTOP)
                let second = try await context.worker { $0.concurrency = 2 }
                try await context.recovers("the jobs are run elsewhere", within: .seconds(12)) {
                    ids.allSatisfy { context.ledger.ended[$0] != nil }
                }
                // A handler that has written its end may not have been reported yet.
                try await context.drain()
                let before = try await context.totals()
                let refused = context.ledger.refused
                proxy.holdHeartbeats()
                let continued = ScenarioContext.now
                first.signal(SIGCONT)
                // Its late runs and reports do not count; it then continues with a new session.
                try await context.registered(first, times: 2)
                proxy.release()
                context.injected(context.ledger.refused - refused, or: "the worker reported nothing of its old session")
                let after = try await context.totals()
                context.expect(after["finished"] == before["finished"], "a finish of the old session counted")
                try await context.expectEveryoneIsBusy([first, second], concurrency: 2)
                try await context.drain()
                expectOverlap(context, of: ids, ranBy: second, within: stopped...continued)
                for worker in [first, second] { worker.signal(SIGTERM) }
                for worker in [first, second] { _ = try await worker.end() }
            }
        },
        Scenario("F04", "a worker is suspended for less than its lease", quick: true) { context in
            context.rules { $0.forbidsDuplicates = true }
            try context.server()
            let workers = try await context.workers(2) { $0.lease = 4000 }
            for _ in 0..<context.size(quick: 1, full: 10) {
                var ids: [String] = []
                try await eventually("the one that is to stand still runs a job", within: .seconds(20)) {
                    ids += try await context.push(4, "nap") { $0.milliseconds = 500 }
                    try await Task.sleep(for: .milliseconds(50))
                    return context.holds(workers[0], ids)
                }
                workers[0].signal(SIGSTOP)
                let isHolding = context.holds(workers[0], ids)
                try await Task.sleep(for: .milliseconds(2000))
                let age = try await context.beatAge(of: workers[0])
                workers[0].signal(SIGCONT)
                let isStill = isHolding && age > 1900
                context.injected(
                    isStill ? 1 : 0,
                    or: "it held \(isHolding ? "jobs" : "none"), and beat \(age) ms before"
                )
                try await context.recovers("they end", within: .seconds(5)) {
                    ids.allSatisfy { context.ledger.ended[$0] != nil }
                }
            }
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        },
    ]

    /// Checks that each job ran twice, the second time while its first worker was suspended.
    private static func expectOverlap(
        _ context: ScenarioContext,
        of ids: [String],
        ranBy other: Program,
        within stop: ClosedRange<Int64>
    ) {
        let lines = context.ledger.lines.filter { ids.contains($0.id) && ["begin", "end"].contains($0.what) }
        let again = lines.filter { $0.pid == other.pid }
        context.expect(again.count == 2 * ids.count, "of \(ids.count) jobs the other worker wrote \(again.count) lines")
        let outside = again.filter { !stop.contains($0.milliseconds) }.map { "\($0.what) \($0.id)" }
        context.expect(outside.isEmpty, "two ran it while none stood still: \(outside)")
        let begun = ids.filter { context.ledger.begun[$0] != 2 }
        context.expect(begun.isEmpty, "did not begin twice: \(begun)")
    }
}

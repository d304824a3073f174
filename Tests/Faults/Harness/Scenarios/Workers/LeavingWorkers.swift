import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Workers that are asked to stop.
extension Scenario {
    static let leavingWorkers = [
        Scenario("F10", "a worker is asked to stop under load", quick: true) { context in
            context.rules {
                $0.forbidsDuplicates = true
                $0.forbidsOverlaps = true
            }
            try context.server()
            for _ in 0..<context.size(quick: 2, full: 20) {
                let worker = try await context.worker {
                    $0.concurrency = 100
                    $0.grace = 5000
                }
                try await context.push(1000, "note") { $0.milliseconds = 400 }
                try await eventually("a hundred run") { try await context.status().running >= 100 }
                let asked = ContinuousClock.now
                worker.signal(SIGTERM)
                let status = try await worker.end(within: .seconds(10))
                let took = (ContinuousClock.now - asked) / .seconds(1)
                context.expect(status == 0, "it left with status \(status)")
                context.expect(took < 6, "it took \(took) s to leave")
                let now = try await context.status()
                context.expect(now.running == 0, "\(now.running) jobs were left behind claimed")
                context.injected(now.ready > 0 ? 1 : 0)
                context.expect(now.totals["recovered"] == 0, "jobs had to be recovered")
                let next = try await context.worker { $0.concurrency = 400 }
                try await context.recovers("another worker does the rest", within: .seconds(30)) {
                    try await context.status().ready == 0
                }
                try await context.drain()
                next.signal(SIGTERM)
                _ = try await next.end()
            }
        },
        Scenario(
            "F10b",
            "a worker is asked to stop while jobs run for longer than its lease, and some for longer than its grace",
            quick: true,
            leaveSlowly
        ),
        Scenario("F11", "signals arrive twice, mixed, and while it connects", quick: true, signalAgain),
        Scenario("F12", "a worker is asked to stop while the server cannot be reached", quick: true) { context in
            let server = try context.server()
            let proxy = try context.proxy(server)
            for _ in 0..<context.size(quick: 1, full: 5) {
                let worker = try await context.worker {
                    $0.url = proxy.url
                    $0.grace = 2000
                }
                let ids = try await context.push(8, "note") { $0.milliseconds = 600 }
                try await eventually("jobs run") { ids.contains { context.ledger.begun[$0] != nil } }
                proxy.cut(true)
                let asked = ContinuousClock.now
                worker.signal(SIGTERM)
                let status = try await worker.end(within: .seconds(15))
                let took = (ContinuousClock.now - asked) / .seconds(1)
                // Its grace, a second until it notices its end, and another second for its last output.
                context.expectInTime(took < 4.5, "it took \(took) s to leave")
                context.note("it took \(took) s to leave")
                context.expect(status == 0, "without a server the worker \(worker.account)")
                context.injected()
                proxy.cut(false)
                let next = try await context.worker()
                try await context.recovers("its jobs are done elsewhere", within: .seconds(3)) {
                    ids.allSatisfy { context.ledger.ended[$0] != nil }
                }
                try await context.drain()
                next.signal(SIGTERM)
                _ = try await next.end()
            }
        },
    ]

    private static func signalAgain(_ context: ScenarioContext) async throws {
        let server = try context.server()
        let proxy = try context.proxy(server)
        var all: [String] = []
        for signals in [[SIGTERM, SIGTERM], [SIGINT, SIGTERM], [SIGTERM, SIGINT, SIGTERM]] {
            for isConnecting in [false, true] {
                let ids = try await context.push(4, "note") { $0.milliseconds = 800 }
                all += ids
                let worker = try await workerToSignal(context, proxy, ids, isConnecting: isConnecting)
                // A worker that is still connecting has nothing to hand back, and leaves within a few milliseconds.
                let pause = isConnecting ? Duration.zero : .milliseconds(10)
                try await expectLeaves(context, worker, after: signals, pause: pause)
                proxy.cut(false)
            }
        }
        try await context.worker()
        try await context.recovers("another worker does the rest", within: .seconds(20)) {
            let ended = context.ledger.ended
            return all.allSatisfy { ended[$0] != nil }
        }
    }

    /// A worker that runs jobs, or whose first connection was accepted and gets no reply.
    private static func workerToSignal(
        _ context: ScenarioContext,
        _ proxy: ChaosProxy,
        _ ids: [String],
        isConnecting: Bool
    ) async throws -> Program {
        let hasConnected = Switch()
        // Its first request is seen, but not forwarded.
        proxy.treat { _ in
            hasConnected.value = true
            return .pass
        }
        proxy.cut(isConnecting)
        let worker = try await context.worker {
            $0.url = proxy.url
            $0.grace = 3000
            $0.waits = false
        }
        if isConnecting {
            try await eventually("it has connected") { hasConnected.value }
            context.expectInjection(context.sessions(of: worker).isEmpty, "it was registered before a signal came")
        } else {
            try await context.registered(worker)
            try await eventually("jobs run") { context.holds(worker, ids) }
        }
        return worker
    }

    /// Checks that it exits cleanly, within its grace and a second, however often it is asked to.
    private static func expectLeaves(
        _ context: ScenarioContext,
        _ worker: Program,
        after signals: [Int32],
        pause: Duration
    ) async throws {
        let asked = ContinuousClock.now
        for (number, signal) in signals.enumerated() {
            if number > 0, pause > .zero { try await Task.sleep(for: pause) }
            context.expectInjection(worker.isRunning, "it had ended before signal \(number + 1) of \(signals)")
            worker.signal(signal)
        }
        let status = try await worker.end(within: .seconds(8))
        let took = ContinuousClock.now - asked
        context.expect(status == 0, "after \(signals) the worker \(worker.account)")
        context.expectInTime(took < .seconds(4), "after \(signals) it took \(took) to leave")
        context.note("after \(signals) it took \(took) to leave")
        context.injected()
    }

    /// While it drains it sends heartbeats; its released jobs go to the head of the ready list and spend nothing.
    private static func leaveSlowly(_ context: ScenarioContext) async throws {
        context.rules { $0.forbidsGrace = true }
        try context.server()
        let gate = context.directory + "/gate"
        let worker = try await context.worker { $0.grace = 10_000 }
        let naps = try await context.push(2, "nap") {
            $0.milliseconds = 5000
            $0.timeout = .seconds(30)
        }
        let gated = try await context.push(2, "gate") {
            $0.gate = gate
            $0.timeout = .seconds(60)
        }
        try await eventually("all run") { (naps + gated).allSatisfy { context.ledger.begun[$0] != nil } }
        let waiting = try await context.push(6, "mark")
        worker.signal(SIGTERM)
        context.expectSteady(try await context.oldestBeat(of: worker, within: .seconds(8)), lease: 2000)
        context.injected(worker.isRunning ? 1 : 0, or: "it left sooner than four leases later")
        let status = try await worker.end(within: .seconds(10))
        context.expect(status == 0, "it left with status \(status)")
        context.expect(
            naps.allSatisfy { context.ledger.ended[$0] == 1 },
            "jobs that ended within the grace were released"
        )
        try await checkReadyList(context, released: gated, waiting)
        try Data().write(to: URL(fileURLWithPath: gate))
        try await context.worker()
        try await context.drain()
        let twice = naps.filter { context.ledger.begun[$0] != 1 }
        context.expect(twice.isEmpty, "what ended within the grace was run again: \(twice)")
    }

    /// Checks the ready list as a console sees it. The order of released jobs is not guaranteed.
    private static func checkReadyList(_ context: ScenarioContext, released: [String], _ waiting: [String]) async throws
    {
        let line = try await context.console.jobs(in: .ready, on: ScenarioContext.queue, from: 0, count: 100).jobs
        let ids = line.map(\.id)
        let head = ids.prefix(released.count)
        context.expect(Set(head) == Set(released), "at the head of the line are \(head), and not \(released)")
        context.expect(Array(ids.dropFirst(released.count)) == waiting, "behind them the line is another one: \(ids)")
        let spent = line.filter { $0.failures + $0.crashes > 0 }.map(\.id)
        context.expect(spent.isEmpty, "attempts were spent of \(spent)")
        let now = try await context.status()
        context.expect(now.running == 0, "\(now.running) jobs were left behind claimed")
        context.expect(now.totals["recovered"] == 0, "jobs had to be recovered")
        let counted = now.totals["released"]
        context.expect(counted == released.count, "\(counted) jobs were released, not \(released.count)")
    }
}

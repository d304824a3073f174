import Errand
import ErrandRedis
import Foundation
import TestSupport

/// A sample of everything that workers, producers and operators do, so that every script in a job's life is called.
///
/// Except scripts that only read (`status`, `inspect`, `stream`), whose lost replies lose nothing, and scripts that
/// operators run on the whole queue or on ended jobs (`clear`, `retry`, `audit`, `cursor`), which would hide or repeat
/// what the accounts should show.
struct EveryScript {
    /// The scripts that it calls.
    static let names = [
        "push", "register", "exchange", "heartbeat", "recover", "promote", "schedule", "timetable", "tick",
        "unschedule", "update", "cancel", "settings", "reconcile", "release",
    ]

    let context: ScenarioContext
    let server: RedisServer
    /// The URL through the network.
    let url: String
    /// The broker that pushes and operates through it.
    let broker: RedisBroker
    /// Injects faults into calls that recover and promote jobs, few of which change anything.
    let windows: InjectionWindows

    /// Runs everything.
    ///
    /// - Returns: The jobs of a dead worker; only these must be recovered and run twice.
    func run() async throws -> [String] {
        let workers = try await context.workers(2) { $0.url = url }
        let pulse = try await Pulse(context, via: broker)
        let last = try await pushOneByOne()
        try await context.push(6, "progress", via: broker)
        try await context.drain(within: .seconds(120))
        // Nothing was pushed after these, so a late or repeated push has replaced none of them.
        let missing = last.filter { context.ledger.ended[$0] == nil }
        context.expect(missing.isEmpty, "the last jobs of \(missing.count) names did not run: \(missing.prefix(3))")
        try await cancelSome()
        try await context.drain(within: .seconds(60))
        // With no other activity, so that the heartbeats show the difference.
        let strays = try await context.straysClaimed(by: workers[1], on: server, via: broker)
        try await eventually("unknown claims are released", within: .seconds(30)) {
            strays.allSatisfy { context.ledger.ended[$0] != nil }
        }
        try await promoteSome()
        let (next, held) = try await loseOne(of: workers)
        let newest = try await relieve(workers[1])
        try await context.expectEveryoneIsBusy([next, newest], within: .seconds(20))
        try await pulse.stop()
        return held
    }

    /// Pushes a few names again and again, so that nearly every push meets a running or scheduled job of its name.
    ///
    /// - Returns: The last accepted job of each name.
    private func pushOneByOne() async throws -> [String] {
        var last: [Int: String] = [:]
        for number in 0..<context.size(quick: 64, full: 640) {
            let name = number % 8
            var options = JobOptions()
            options.milliseconds = name < 5 ? 600 : 20
            options.delay = name == 5 || name == 6 ? 3000 : nil
            options.name = "\(name)"
            options.unique = (number / 8 + name) % 2 == 0 ? .drop : .replace
            let job = try context.job("nap", options)
            let receipt = try await context.push([job], via: broker)[0]
            if receipt.outcome != .dropped { last[name] = job.id }
            // So that the job has begun when the next one of its name is pushed.
            try await Task.sleep(for: .milliseconds(10))
        }
        return Array(last.values)
    }

    /// Cancels waiting jobs and a running one, each exactly once, whatever was lost or repeated.
    private func cancelSome() async throws {
        let rounds = context.size(quick: 4, full: 20)
        // Runs that were replaced were cancelled, too.
        let before = try await context.totals()["cancelled"]
        for _ in 0..<rounds {
            let waiting = try await context.push(2, "mark", via: broker) {
                $0.delay = 3_600_000
                $0.ends = false
            }
            let running = try await context.push(1, "gate", via: broker) {
                $0.gate = context.directory + "/never"
                $0.timeout = .seconds(60)
                $0.ends = false
            }
            try await eventually("the job runs") { context.ledger.begun[running[0]] != nil }
            try await context.insist { try await broker.cancel(waiting + running, on: ScenarioContext.queue) }
        }
        try await eventually("all are cancelled", within: .seconds(30)) {
            try await context.totals()["cancelled"] - before >= 3 * rounds
        }
        let cancelled = try await context.totals()["cancelled"] - before
        context.expect(cancelled == 3 * rounds, "\(cancelled) jobs were cancelled, not \(3 * rounds)")
    }

    /// Jobs become due while a fault is injected into each promotion.
    private func promoteSome() async throws {
        windows.open("promote")
        let ids = try await context.push(6, "mark", via: broker) { $0.delay = 800 }
        try await eventually("delayed jobs end", within: .seconds(30)) {
            ids.allSatisfy { context.ledger.ended[$0] != nil }
        }
        windows.close("promote")
    }

    /// One of two fully loaded workers dies, and another one starts; a fault is injected into each recovery.
    ///
    /// - Returns: The new worker, and the jobs of the dead one.
    private func loseOne(of workers: [Program]) async throws -> (next: Program, held: [String]) {
        let gate = context.directory + "/gate"
        let ids = try await context.push(8, "gate", via: broker) {
            $0.gate = gate
            $0.timeout = .seconds(120)
        }
        try await eventually("all run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
        let held = context.begun(ids, by: workers[0])
        try await context.kill(workers[0])
        let lease = try context.leaseEnd(of: workers[0], on: server) - ScenarioContext.now
        windows.open("recover", from: .now + .milliseconds(lease))
        let next = try await context.worker { $0.url = url }
        try await eventually("its jobs begin again", within: .seconds(30)) {
            held.allSatisfy { context.ledger.begun[$0] == 2 }
        }
        windows.close("recover")
        try Data().write(to: URL(fileURLWithPath: gate))
        try await context.drain(within: .seconds(60))
        return (next, held)
    }

    /// A worker stops under load, and another one starts.
    private func relieve(_ worker: Program) async throws -> Program {
        let ids = Set(try await context.push(60, "nap", via: broker) { $0.milliseconds = 100 })
        try await eventually("it is busy") {
            context.ledger.lines.contains { $0.pid == worker.pid && ids.contains($0.id) }
        }
        worker.signal(SIGTERM)
        let status = try await worker.end(within: .seconds(40))
        context.expect(status == 0, "the worker that was to leave ended with \(status): \(worker.lines.suffix(3))")
        return try await context.worker { $0.url = url }
    }
}

import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Workers that are killed, by the harness or by a job.
extension Scenario {
    static let killedWorkers = [
        Scenario("F01", "workers are killed at random while they run jobs", quick: true) { context in
            try context.server()
            let workers = try await WorkerGroup(context, 3)
            let load = context.load(rate: context.size(quick: 100, full: 200), "nap") { $0.milliseconds = 50 }
            for _ in 0..<context.size(quick: 8, full: 200) {
                try await Task.sleep(for: .milliseconds(context.random(300...1500)))
                await workers.killOne()
                context.injected()
            }
            try await context.carries(load, within: .seconds(8))
            try await load.stop()
            try await context.drain()
            await workers.dismiss()
            let status = try await context.status()
            context.expect(status.dead == 0, "\(status.dead) innocent jobs were set aside")
            context.expectInjection(status.totals["recovered"] > 0, "no kill reached a job")
            context.expectTakenOver(await workers.kills)
        },
        Scenario("F01b", "one of four workers is killed every 2 s under a steady load", limit: .seconds(300)) {
            context in
            try await soak(context)
        },
        Scenario("F01c", "the only worker is killed, and another one starts later", quick: true) { context in
            try context.server()
            for pause in [500, 3000] { try await relieveTheOnlyOne(context, after: pause) }
        },
        Scenario("F08", "one job of many traps and kills its worker", quick: true) { context in
            context.rules { $0.workersMayEnd = true }
            try await poison(context, "trap", deaths: [SIGILL, SIGTRAP]) { _ in }
        },
        Scenario("F09", "one job of many takes all memory", needs: [.controlGroups]) { context in
            context.rules { $0.workersMayEnd = true }
            let group = try ControlGroup(context, "memory")
            try group.set("memory.limit_in_bytes", "160M")
            try await poison(context, "hog", deaths: [SIGKILL]) { $0.prefix = group.prefix }
            let kills = try group.kills
            context.injected(kills, or: "the kernel killed no process for lack of memory")
        },
    ]

    /// Ten minutes, 2,000 jobs a second, and 90 % of the load ends within every ten seconds.
    private static func soak(_ context: ScenarioContext) async throws {
        try context.server()
        let workers = try await WorkerGroup(context, 4) { $0.concurrency = 16 }
        // Not so short that a kill hits none.
        let load = context.load(rate: context.size(quick: 300, full: 2000), "note") { $0.milliseconds = 10 }
        let began = ContinuousClock.now
        var window = context.carried()
        for kill in 1...context.size(quick: 15, full: 300) {
            try await Task.sleep(until: began + .seconds(2 * kill))
            await workers.killOne()
            context.injected()
            guard kill % 5 == 0 else { continue }
            let now = context.carried()
            let share = now.share(of: load, since: window)
            context.expectInTime(share >= 0.9, "in ten seconds only \(Int(share * 100)) % of the load were carried")
            context.note("carried \(Int(share * 100)) %")
            window = now
        }
        try await load.stop()
        try await context.drain()
        await workers.dismiss()
        let status = try await context.status()
        context.expect(status.dead == 0, "\(status.dead) innocent jobs were set aside")
        context.expectInjection(status.totals["recovered"] > 0, "no kill reached a job")
        context.expectTakenOver(await workers.kills)
    }

    /// The README's guarantee: its jobs are ready again within twice the lease and 5 s after another worker has
    /// started.
    private static func relieveTheOnlyOne(_ context: ScenarioContext, after pause: Int) async throws {
        let lease = 2000
        let first = try await context.worker { $0.lease = lease }
        let ids = try await context.push(4, "block") { $0.milliseconds = 1500 }
        try await eventually("all run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
        try await context.kill(first)
        let held = ids.filter { context.ledger.ended[$0] == nil }
        context.injected(held.count, or: "the jobs had ended when their worker was killed")
        try await Task.sleep(for: .milliseconds(pause))
        let second = try await context.worker { $0.lease = lease }
        try await context.recovers("they begin again", within: .milliseconds(2 * lease + 5000)) {
            held.allSatisfy { context.ledger.begun[$0] == 2 }
        }
        try await context.drain()
        let recovered = try await context.totals()["recovered"]
        context.expectInjection(recovered > 0, "nothing was recovered")
        second.signal(SIGTERM)
        _ = try await second.end()
    }

    /// A job that kills every worker that runs it becomes dead; its neighbours do not.
    private static func poison(
        _ context: ScenarioContext,
        _ operation: String,
        deaths: [Int32],
        _ change: @escaping @Sendable (inout WorkerOptions) -> Void
    ) async throws {
        context.rules { $0.drain = .seconds(90) }
        try context.server()
        try await context.push(context.size(quick: 200, full: 1000), "nap") { $0.milliseconds = 10 }
        let poison = try await context.push(1, operation) { $0.ends = false }
        let workers = try await WorkerGroup(context, 2) {
            $0.lease = 1000
            change(&$0)
        }
        // More than their capacity, so that they always claim ahead, and jobs begin before the broker can know it.
        let load = context.load(rate: 600, "nap") { $0.milliseconds = 10 }
        try await context.recovers("the poison is set aside", within: .seconds(90)) {
            try await context.status().dead > 0
        }
        try await load.stop()
        try await context.drain()
        await workers.dismiss()
        let ends = await workers.ends
        let injected = ends.filter { status in deaths.contains { status == 128 + $0 } }.count
        context.injected(injected, or: "the workers ended with \(ends), and none as a \(operation) would end it")
        let dead = try await context.console.jobs(in: .dead, on: ScenarioContext.queue, from: 0, count: 10).jobs.map(
            \.id
        )
        context.expect(dead == poison, "dead are \(dead), and only \(poison) should be")
        let begun = context.ledger.begun[poison[0]] ?? 0
        context.note("the poison began \(begun) times, and workers ended with \(ends)")
        // Once unnoticed, three times among others, and four times alone.
        context.expect((7...8).contains(begun), "the poison began \(begun) times")
        _ = try await context.console.delete(poison, on: ScenarioContext.queue)
    }
}

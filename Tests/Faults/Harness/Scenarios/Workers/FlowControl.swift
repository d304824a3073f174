import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Limits, rates and order of groups while workers are killed. The server's own sequence of events is the judge.
extension Scenario {
    static let flowControl = [
        Scenario("F97", "a limit of one per group holds while workers are killed", quick: true, limit: .seconds(300)) {
            context in
            try await context.serverWithRule(FlowRule(atOnce: 1))
            let groups = try await killStorm(context, ["nap"], each: context.size(quick: 30, full: 100))
            try await context.judge(groups, isOrdered: false)
        },
        Scenario("F98", "a rate is never exceeded, and used, with many producers and workers", quick: true) { context in
            try await rate(context)
        },
        Scenario(
            "F99",
            "ordered groups keep their order while workers are killed and jobs fail",
            quick: true,
            limit: .seconds(300)
        ) {
            context in
            try await context.serverWithRule(FlowRule(order: .holdDead))
            let operations = ["nap", "nap", "nap", "failonce"]
            let groups = try await killStorm(context, operations, each: context.size(quick: 16, full: 40))
            try await context.judge(groups, isOrdered: true)
        },
    ]

    /// Pushes jobs of many groups, and kills workers while they run. Returns the jobs of each group in the order of their
    /// pushes.
    private static func killStorm(
        _ context: ScenarioContext,
        _ operations: [String],
        each count: Int
    ) async throws -> [String: [String]] {
        let workers = try await WorkerGroup(context, 3) { $0.concurrency = context.size(quick: 8, full: 16) }
        var groups: [String: [String]] = [:]
        for round in 0..<count {
            var jobs: [JobEnvelope] = []
            for number in 0..<context.size(quick: 20, full: 1000) {
                var options = JobOptions()
                options.group = "account-\(number)"
                // All slots of the workers together need two minutes for the full size.
                options.milliseconds = context.size(quick: 100, full: 50)
                options.retries = 3
                let job = try context.job(operations[round % operations.count], options)
                groups[options.group ?? "", default: []].append(job.id)
                jobs.append(job)
            }
            for start in stride(from: 0, to: jobs.count, by: 500) {
                try await context.push(Array(jobs[start..<min(start + 500, jobs.count)]))
            }
        }
        for _ in 0..<context.size(quick: 4, full: 40) {
            try await Task.sleep(for: .milliseconds(context.random(300...1500)))
            await workers.killOne()
            context.injected()
        }
        try await context.drain(within: .seconds(context.size(quick: 120, full: 600)))
        await workers.dismiss()
        context.expectInjection(try await context.totals()["recovered"] > 0, "no kill reached a job")
        return groups
    }

    /// Many producers push more jobs than a rate permits.
    private static func rate(_ context: ScenarioContext) async throws {
        let (perSecond, burst, seconds) = (100, 20, context.size(quick: 6, full: 60))
        let server = try await context.serverWithRule(FlowRule(rate: .perSecond(perSecond, burst: burst)))
        try await context.workers(context.size(quick: 3, full: 8)) { $0.concurrency = 8 }
        let producers = try (0..<context.size(quick: 10, full: 50)).map { _ in try context.connect(server.url) }
        let share = (perSecond * seconds + burst) / producers.count + 1
        try await withThrowingTaskGroup(of: Void.self) { group in
            for producer in producers {
                group.addTask { try await context.push(share, "mark", via: producer) { $0.group = "api" } }
            }
            try await group.waitForAll()
        }
        context.injected(producers.count)
        try await context.drain(within: .seconds(120))
        let starts = try await context.keptEvents().filter { $0.event == "started" }
            .compactMap(\.atMilliseconds).sorted()
        judge(context, starts, perSecond: perSecond, burst: burst)
        let last = Double((starts.last ?? 0) - (starts.first ?? 0)) / 1000 * Double(perSecond) + Double(burst)
        context.expect(
            Double(starts.count) >= 0.98 * last,
            "\(starts.count) jobs started, and the rate allowed \(Int(last))"
        )
    }

    /// Checks that no window, of whatever length, has more starts than the rate and the burst allow.
    private static func judge(_ context: ScenarioContext, _ starts: [Int64], perSecond: Int, burst: Int) {
        let interval = Int64(1000 / perSecond)
        for first in starts.indices {
            // Of the starts from here on, the one after `burst` others may come an interval later, and so on.
            for last in starts.indices where last >= first + burst {
                let least = Int64(last - first + 1 - burst) * interval
                let took = starts[last] - starts[first]
                guard took < least else { continue }
                return context.expect(false, "\(last - first + 1) jobs started within \(took) ms")
            }
        }
    }
}

extension ScenarioContext {
    /// Starts a server with a rule for all groups of the queue, which keeps all of its events.
    @discardableResult
    fileprivate func serverWithRule(_ rule: FlowRule) async throws -> RedisServer {
        // Killed workers leave times of groups, which expire by themselves.
        rules { $0.toleratedKeys += ["left:", "tat", "flow", "stream", "cursors"] }
        let server = try server()
        try await console.createQueue(Self.queue)
        try await console.configure(Self.queue, QueueSettings(publishesStarts: true, keptEvents: 1_000_000))
        try await console.setFlow(Self.queue, matching: "*", rule)
        return server
    }

    /// Checks that of each group one job was claimed at a time and that no slot is left. If the groups are ordered, jobs
    /// must also have started in the order of their pushes, and none between the start of another and its last end.
    fileprivate func judge(_ groups: [String: [String]], isOrdered: Bool) async throws {
        let group = Dictionary(uniqueKeysWithValues: groups.flatMap { group in group.value.map { ($0, group.key) } })
        var claimed: [String: String] = [:]
        var started: [String: [String]] = [:]
        for event in try await keptEvents() {
            guard let id = event.id, let name = group[id] else { continue }
            guard event.event == "started" else {
                let isOver = !isOrdered || event.event == "finished" || event.event == "dead"
                if isOver, claimed[name] == id { claimed[name] = nil }
                continue
            }
            if let other = claimed[name], !isOrdered || other != id {
                expect(false, "\(id) was claimed beside \(other) of group \(name)")
            }
            claimed[name] = id
            if started[name]?.contains(id) != true { started[name, default: []].append(id) }
        }
        for (name, ids) in groups.sorted(by: { $0.key < $1.key }) {
            if isOrdered { expect(started[name] == ids, "group \(name) started in another order") }
            let held = try await console.groups(of: Self.queue, named: name, most: 1).first?.held
            expect(held == 0, "\(held ?? -1) slots of group \(name) are left")
        }
    }
}

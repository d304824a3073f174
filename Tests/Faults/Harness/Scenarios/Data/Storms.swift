import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Many pushes of one name at once.
extension Scenario {
    static let storms = [
        Scenario("F72", "a storm of drops: one of them runs", quick: true) { context in
            try await storm(context, .drop) { place in
                try await context.workers(2)
                let storm = try await Storm.rage(place, count: context.size(quick: 1000, full: 10_000))
                let accepted = storm.outcomes.filter { $0.value == .accepted }.map(\.key)
                context.expect(accepted == Array(storm.order.prefix(1)), "accepted were \(accepted.prefix(3))")
                let dropped = storm.outcomes.values.filter { $0 == .dropped }.count
                context.expect(dropped == storm.outcomes.count - 1, "\(dropped) were dropped")
                return (storm, accepted.first)
            }
        },
        Scenario("F72b", "a storm of replaces meets a waiting job: the last one runs", quick: true) { context in
            try await storm(context, .replace) { place in
                let storm = try await Storm.rage(place, count: context.size(quick: 1000, full: 10_000))
                try await context.worker()
                return (storm, storm.order.last)
            }
        },
        Scenario("F72c", "a storm of replaces meets a running job: the last one runs", quick: true) { context in
            try await storm(context, .replace) { place in
                try await context.workers(2)
                let first = try await firstJob(place)
                try await eventually("the first job runs") { context.ledger.begun[first] == 1 }
                let storm = try await Storm.rage(place, count: context.size(quick: 300, full: 3000))
                context.expect(storm.outcomes.values.contains(.deferred), "nothing was deferred")
                try await eventually("the last job runs") {
                    context.ledger.lines.last { $0.what == "begin" }?.id == storm.order.last
                }
                context.expect(context.ledger.ended[first] == nil, "the first job ended")
                return (storm, storm.order.last)
            }
        },
        Scenario("F72d", "a storm of replaces meets a delayed job: the last one runs now") { context in
            try await storm(context, .replace) { place in
                _ = try await firstJob(place, delay: 3_600_000)
                let storm = try await Storm.rage(place, count: context.size(quick: 300, full: 3000))
                try await context.worker()
                return (storm, storm.order.last)
            }
        },
        Scenario("F72e", "a storm of replaces while every worker is killed: the last one runs", quick: true) {
            context in
            try await storm(context, .replace) { place in
                let killed = try await context.workers(2)
                let first = try await firstJob(place)
                try await eventually("the first job runs") { context.ledger.begun[first] == 1 }
                async let raging = Storm.rage(place, count: context.size(quick: 300, full: 3000))
                try await eventually("the storm has begun") { try await context.totals()["pushed"] > 1 }
                for worker in killed { try await context.kill(worker) }
                try await context.worker()
                let storm = try await raging
                return (storm, storm.order.last)
            }
        },
        Scenario(
            "F73",
            "a name is replaced all the time in an endless ready list, and its job keeps its position",
            quick: true,
            keepItsPlace
        ),
    ]

    /// The ready list is never empty meanwhile, so a job that went to its tail with each replacement would not run.
    ///
    /// A job that is replaced between its claim and its start is told to stop, and its successor goes to the head.
    private static func keepItsPlace(_ context: ScenarioContext) async throws {
        // The rest of the ready list is cleared at the end.
        context.rules { $0.jobsMayBeCancelled = true }
        let server = try context.server()
        let (workers, slots) = (context.size(quick: 1, full: 4), 8)
        let restless: (inout JobOptions) -> Void = {
            $0.name = "restless"
            $0.unique = .replace
        }
        try await context.push(context.size(quick: 60, full: 4000), "block") { $0.milliseconds = 200 }
        try await context.push(1, "mark", restless)
        let marker = try await context.push(1, "mark")[0]
        // More than the workers' 40 jobs a second each.
        let refilling = context.load(rate: 50 * workers, "block") { $0.milliseconds = 200 }
        let rate = context.size(quick: 200, full: 1000)
        let replacing = context.load(rate: rate, "mark", via: try context.connect(server.url), restless)
        try await eventually("it is replaced all the time") { try await context.totals()["replaced"] > 100 }
        try await context.workers(workers) { $0.concurrency = slots }
        // This many may begin before jobs that were claimed earlier.
        let tolerance = 2 * workers * slots
        try await eventually("the line moves on behind the marker") {
            let begun = begun(context)
            return begun.firstIndex(of: marker).map { begun.count > $0 + tolerance } ?? false
        }
        let left = try await context.status().ready
        try await replacing.stop()
        try await refilling.stop()
        let totals = try await context.totals()
        context.injected(
            left > tolerance ? totals["replaced"] : 0,
            or: "with \(left) in the ready list its tail was no bad position"
        )
        judgePlace(context, marker, tolerance)
        while try await context.console.clear(ScenarioContext.queue) > 0 {}
    }

    /// Checks that neither of two jobs from the same time began much later than the other.
    private static func judgePlace(_ context: ScenarioContext, _ marker: String, _ tolerance: Int) {
        let begun = begun(context)
        let entries = context.accounts.entries
        let place = begun.firstIndex { [.replaced, .deferred].contains(entries[$0]?.outcome) }
        let latest = (begun.firstIndex(of: marker) ?? 0) + tolerance
        context.expect(
            (place ?? .max) <= latest,
            "the restless job began as number \(place.map(String.init) ?? "none"), and had to before \(latest)"
        )
    }

    /// The jobs in the order in which they began.
    private static func begun(_ context: ScenarioContext) -> [String] {
        context.ledger.lines.filter { $0.what == "begin" }.map(\.id)
    }

    /// A job with the storm's name that existed before it.
    private static func firstJob(_ place: Storm.Place, delay: Int64? = nil) async throws -> String {
        try await place.context.push(1, "gate") {
            $0.gate = place.gate
            $0.name = Storm.name
            $0.unique = .replace
            $0.delay = delay
            $0.ends = false
        }[0]
    }

    /// Runs a storm, and checks that the returned job ran last and alone reached its end.
    private static func storm(
        _ context: ScenarioContext,
        _ policy: UniquenessPolicy,
        _ body: (Storm.Place) async throws -> (storm: Storm, survivor: String?)
    ) async throws {
        let server = try context.server()
        let gate = context.directory + "/gate"
        let (storm, survivor) = try await body(
            Storm.Place(context: context, server: server, policy: policy, operation: "gate", gate: gate)
        )
        try Data().write(to: URL(fileURLWithPath: gate))
        context.injected(storm.outcomes.count)
        try await context.drain()
        context.expect(Set(storm.order) == Set(storm.outcomes.keys), "the server's log has other pushes")
        let ended = context.ledger.ended
        context.expect(ended == [survivor ?? "none": 1], "ended: \(ended), expected was \(survivor ?? "none")")
        context.expect(
            context.ledger.lines.last?.id == survivor,
            "the last that ran was \(context.ledger.lines.last?.id ?? "-")"
        )
        let totals = try await context.totals()
        context.expect(totals["finished"] == 1, "\(totals["finished"]) finished")
        context.accounts.took(storm.outcomes)
        let left = Set(try await context.keys()).intersection(["unique", "unique:of", "successors", "stops"])
        context.expect(left.isEmpty, "a lock was left: \(left)")
    }
}

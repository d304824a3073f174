import Errand
import Foundation
import TestSupport

/// Servers that take long to load their data.
extension Scenario {
    static let slowLoading = [
        Scenario("F41", "the server loads for longer than the lease, and rejects everything meanwhile", quick: true) {
            context in
            context.rules {
                $0.forbidsDuplicates = true
                $0.forbidsOverlaps = true
            }
            // A delay of a millisecond a command makes a small file slow to load.
            let server = try context.server(["--appendonly", "yes", "--key-load-delay", "1000"])
            let workers = try await context.workers(2)
            let commands = context.size(quick: 5000, full: 40_000)
            let fill = "for i = 1, ARGV[1] do redis.call('SET', 'filler:' .. i, i) end"
            try server.run("EVAL", fill, "0", "\(commands)")
            let ids = try await context.push(8, "block") { $0.milliseconds = commands + 3000 }
            try await eventually("eight jobs run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
            server.kill(SIGKILL)
            let killed = ContinuousClock.now
            try server.start(mayLoad: true)
            try await eventually("the server has loaded", within: .seconds(120)) {
                !(try server.run("PING").hasPrefix("LOADING"))
            }
            let loaded = ContinuousClock.now
            context.expect(loaded - killed > .seconds(2.5), "it loaded in \(loaded - killed) already")
            // Calls of this process during the loading do not count.
            context.injected(try server.rejections(of: "evalsha"), or: "no worker noticed that the server loads")
            let marks = try await context.push(4, "mark")
            try await context.recovers("the jobs end", within: .seconds(12), since: loaded) {
                (ids + marks).allSatisfy { context.ledger.ended[$0] != nil }
            }
            let totals = try await context.totals()
            context.expect(
                totals["recovered"] == 0,
                "\(totals["recovered"]) jobs were taken from workers that ran them"
            )
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        }
    ]
}

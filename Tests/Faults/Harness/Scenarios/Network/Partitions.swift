import Errand
import Foundation
import TestSupport

/// Nothing goes through between workers and server.
extension Scenario {
    static let partitions = [
        Scenario("F19", "everything is cut off for less than the lease") { play in
            try await partition(play, lease: 4000, length: .milliseconds(2000))
        },
        Scenario("F20", "everything is cut off for two leases: nobody is robbed", quick: true) { play in
            try await partition(play, lease: 2000, length: .milliseconds(4000))
        },
    ]

    /// Long jobs run through a partition of all workers; no job may be run twice for it.
    private static func partition(_ play: Play, lease: Int, length: Duration) async throws {
        play.rules {
            $0.forbidsDuplicates = true
            $0.forbidsOverlaps = true
        }
        let server = try play.server()
        let proxy = try play.proxy(server)
        let workers = try await play.workers(2) {
            $0.url = proxy.url
            $0.lease = lease
        }
        for _ in 0..<play.size(quick: 1, full: 5) {
            let ids = try await play.push(8, "block") { $0.milliseconds = 6000 }
            try await eventually("eight jobs run") { ids.allSatisfy { play.ledger.begun[$0] != nil } }
            proxy.cut(true)
            try await Task.sleep(for: length)
            proxy.cut(false)
            play.struck()
            let healed = ContinuousClock.now
            try await play.push(1, "mark")
            try await play.recovers("the jobs end", within: .seconds(20), since: healed) {
                ids.allSatisfy { play.ledger.ended[$0] != nil }
            }
            try await play.drain()
        }
        let totals = try await play.totals()
        play.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken from workers that ran them")
        play.expectAlive(workers)
    }
}

import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Full disks and failing snapshots.
extension Scenario {
    static let fullDisks = [
        Scenario("F45", "the disk is full for two leases, synced every second", quick: true, needs: [.mounting]) {
            context in
            let disk = try SmallDisk(context, megabytes: 16)
            let server = try context.server(["--dir", disk.path, "--appendonly", "yes", "--appendfsync", "everysec"])
            try await endure(context, server) {
                try disk.fill()
            } heal: {
                try disk.free()
            }
        },
        Scenario("F46", "the disk is full, and the server exits because it must sync", quick: true, needs: [.mounting])
        {
            context in
            let disk = try SmallDisk(context, megabytes: 16)
            let server = try context.server(["--dir", disk.path, "--appendonly", "yes", "--appendfsync", "always"])
            let workers = try await context.workers(2)
            let producer = try context.connect(server.url, patience: .milliseconds(300))
            let load = context.load(rate: 60, via: producer) { $0.pad = 200 }
            for _ in 0..<context.size(quick: 2, full: 15) {
                try await context.carries(load, share: 0.8, within: .seconds(10))
                try disk.fill()
                try await eventually("the server has ended") { !server.isRunning }
                context.injected()
                try disk.free()
                try server.start()
                try await context.carries(load, share: 0.8, within: .seconds(8))
            }
            try await load.stop()
            try await context.expectEveryoneIsBusy(workers)
        },
        Scenario("F47", "snapshots fail, and the server rejects writes", needs: [.mounting]) {
            context in
            let disk = try SmallDisk(context, megabytes: 16)
            let server = try context.server(["--dir", disk.path, "--save", "3600 1000000"])
            try await endure(context, server) {
                try disk.fill()
                try await snapshot(server, "err")
            } heal: {
                try disk.free()
                try await snapshot(server, "ok")
            }
        },
    ]

    /// Jobs continue while the server cannot write; no worker loses a job, and pushes are rejected, not lost.
    private static func endure(
        _ context: ScenarioContext,
        _ server: RedisServer,
        injection: () async throws -> Void,
        heal: () async throws -> Void
    ) async throws {
        context.rules {
            $0.forbidsDuplicates = true
            $0.forbidsOverlaps = true
        }
        let workers = try await context.workers(2)
        let producer = try context.connect(server.url, patience: .milliseconds(300))
        for _ in 0..<context.size(quick: 1, full: 10) {
            // About as long as the fault: they occupy every slot, and work cannot continue before they end.
            let ids = try await context.push(8, "block") { $0.milliseconds = 5000 }
            try await eventually("eight jobs run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
            let before = try server.errors("MISCONF")
            try await injection()
            let refused = context.accounts.refusals
            let load = context.load(rate: 20, via: producer)
            try await eventually("a push is refused") { context.accounts.refusals > refused }
            try await Task.sleep(for: .seconds(4))
            try await heal()
            let healed = ContinuousClock.now
            context.injected(try server.errors("MISCONF") - before, or: "no client noticed that nothing can be written")
            try await context.recovers("the jobs' ends are accepted", within: .seconds(3), since: healed) {
                let accepted = context.ledger.accepted
                return ids.allSatisfy { accepted[$0] != nil }
            }
            try await context.carries(load, within: .seconds(3), since: healed)
            try await load.stop()
            try await context.drain()
        }
        let totals = try await context.totals()
        context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken from workers that ran them")
        context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
    }

    private static func snapshot(_ server: RedisServer, _ outcome: String) async throws {
        try server.run("BGSAVE")
        try await eventually("the snapshot's outcome is \(outcome)") {
            let isOver = try server.fact("rdb_bgsave_in_progress") == "0"
            return try isOver && server.fact("rdb_last_bgsave_status") == outcome
        }
    }
}

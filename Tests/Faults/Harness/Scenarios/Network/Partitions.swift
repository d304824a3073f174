import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Nothing goes through between workers and server.
extension Scenario {
    static let partitions = [
        Scenario("F19", "everything is cut off for less than the lease") { context in
            try await partition(context, lease: 6000, length: 3500)
        },
        Scenario("F20", "everything is cut off for two leases: no worker loses a job", quick: true, alone: true) {
            context in
            try await partition(context, lease: 2000, length: 4000)
        },
    ]

    /// Long jobs run through a partition of all workers; no job may be run twice for it.
    private static func partition(_ context: ScenarioContext, lease: Int, length: Int) async throws {
        context.rules {
            $0.forbidsDuplicates = true
            $0.forbidsOverlaps = true
        }
        let server = try context.server()
        let proxy = try context.proxy(server)
        let workers = try await context.workers(2) {
            $0.url = proxy.url
            $0.lease = lease
        }
        for round in 0..<context.size(quick: 2, full: 6) {
            let gate = context.directory + "/gate-\(round)"
            let (long, gated) = try await occupy(context, gate)
            let before = try await ServersView(context, server)
            proxy.cut(true)
            // They end while nobody can be told; the others run on.
            try Data().write(to: URL(fileURLWithPath: gate))
            try await Task.sleep(for: .milliseconds(length))
            let cut = try await ServersView(context, server)
            let isSilent = cut.silence > length * 8 / 10 && cut.finished == before.finished
            let isLong = cut.leasesOver == (length > lease ? workers.count : 0)
            let isUntold = gated.allSatisfy { context.ledger.ended[$0] != nil }
            context.injected(isSilent && isLong && isUntold ? 1 : 0, or: "after \(length) ms the server saw \(cut)")
            // Every other time the first call after that is no heartbeat but a recovery: only the grace stops it.
            if !round.isMultiple(of: 2) { _ = try await context.console.recover(on: ScenarioContext.queue) }
            proxy.cut(false)
            let healed = ContinuousClock.now
            try await context.push(1, "mark")
            try await context.recovers("the jobs end", within: .seconds(20), since: healed) {
                long.allSatisfy { context.ledger.ended[$0] != nil }
            }
            try await context.drain()
            let after = try await ServersView(context, server)
            after.expect(ends: long.count + gated.count + 1, andGraceOf: lease, since: before, context)
        }
        try await context.expectEveryoneIsBusy(workers)
        try await context.drain()
        let totals = try await context.totals()
        context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken from workers that ran them")
        context.expect(context.ledger.refused == 0, "\(context.ledger.refused) ends did not count")
        context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        context.expectAlive(workers)
    }

    /// Occupies both workers: with jobs that run for longer than the partition, and with jobs that wait for a gate to open.
    private static func occupy(
        _ context: ScenarioContext,
        _ gate: String
    ) async throws -> (long: [String], gated: [String]) {
        let long = try await context.push(4, "block") { $0.milliseconds = 6000 }
        let gated = try await context.push(4, "gate") { $0.gate = gate }
        let all = long + gated
        try await eventually("eight jobs run") { all.allSatisfy { context.ledger.begun[$0] != nil } }
        return (long, gated)
    }
}

/// What the server knows of the workers: the proof that nothing came through, and what it made of that.
private struct ServersView {
    /// How long ago the last heartbeat of any session came, in milliseconds.
    let silence: Int
    /// How many sessions' leases are over.
    let leasesOver: Int
    /// How many runs have finished.
    let finished: Int
    /// When it last noticed that everybody had been away, and until when recovery waits for that, in milliseconds since 1970.
    let leap: Int
    let grace: Int

    init(_ context: ScenarioContext, _ server: RedisServer) async throws {
        let status = try await context.console.status(of: ScenarioContext.queue)
        silence = status.sessions.map(\.lastBeatMilliseconds).min() ?? 0
        finished = status.queue.totals["finished"]
        leasesOver =
            Int(try server.run("ZCOUNT", ScenarioContext.key("sessions"), "-inf", "\(ScenarioContext.now)")) ?? 0
        leap = Int(try server.run("HGET", ScenarioContext.key("runtime"), "leap")) ?? 0
        grace = Int(try server.run("HGET", ScenarioContext.key("runtime"), "grace")) ?? 0
    }

    /// Expects that so many runs have ended since an earlier view, and that recovery waits for a lease.
    func expect(ends: Int, andGraceOf lease: Int, since before: ServersView, _ context: ScenarioContext) {
        context.expect(finished == before.finished + ends, "in the end it saw \(self)")
        context.expect(leap > before.leap, "the server did not notice that everybody had been away")
        context.expect(grace == leap + lease, "the grace was \(grace - leap) ms, not \(lease)")
    }
}

import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Nothing goes through between workers and server.
extension Scenario {
    static let partitions = [
        Scenario("F19", "everything is cut off for less than the lease") { play in
            try await partition(play, lease: 6000, length: 3500)
        },
        Scenario("F20", "everything is cut off for two leases: nobody is robbed", quick: true, alone: true) { play in
            try await partition(play, lease: 2000, length: 4000)
        },
    ]

    /// Long jobs run through a partition of all workers; no job may be run twice for it.
    private static func partition(_ play: Play, lease: Int, length: Int) async throws {
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
        for round in 0..<play.size(quick: 2, full: 6) {
            let gate = play.directory + "/gate-\(round)"
            let (long, gated) = try await occupy(play, gate)
            let before = try await ServersView(play, server)
            proxy.cut(true)
            // They end while nobody can be told; the others run on.
            try Data().write(to: URL(fileURLWithPath: gate))
            try await Task.sleep(for: .milliseconds(length))
            let cut = try await ServersView(play, server)
            let isSilent = cut.silence > length * 8 / 10 && cut.finished == before.finished
            let isLong = cut.leasesOver == (length > lease ? workers.count : 0)
            let isUntold = gated.allSatisfy { play.ledger.ended[$0] != nil }
            play.struck(isSilent && isLong && isUntold ? 1 : 0, or: "after \(length) ms the server saw \(cut)")
            // Every other time the first call after that is no heartbeat but a recovery: only the grace stops it.
            if !round.isMultiple(of: 2) { _ = try await play.console.recover(on: Play.queue) }
            proxy.cut(false)
            let healed = ContinuousClock.now
            try await play.push(1, "mark")
            try await play.recovers("the jobs end", within: .seconds(20), since: healed) {
                long.allSatisfy { play.ledger.ended[$0] != nil }
            }
            try await play.drain()
            let after = try await ServersView(play, server)
            play.expect(after.finished == before.finished + long.count + gated.count + 1, "in the end it saw \(after)")
            play.expect(after.leap > before.leap, "the server did not notice that everybody had been away")
            play.expect(after.grace == after.leap + lease, "the grace was \(after.grace - after.leap) ms, not \(lease)")
        }
        try await play.expectEveryoneIsBusy(workers)
        try await play.drain()
        let totals = try await play.totals()
        play.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken from workers that ran them")
        play.expect(play.ledger.refused == 0, "\(play.ledger.refused) ends did not count")
        play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 }, "a session was lost")
        play.expectAlive(workers)
    }

    /// Occupies both workers: with jobs that run for longer than the partition, and with jobs that wait for a gate to open.
    private static func occupy(_ play: Play, _ gate: String) async throws -> (long: [String], gated: [String]) {
        let long = try await play.push(4, "block") { $0.milliseconds = 6000 }
        let gated = try await play.push(4, "gate") { $0.gate = gate }
        let all = long + gated
        try await eventually("eight jobs run") { all.allSatisfy { play.ledger.begun[$0] != nil } }
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

    init(_ play: Play, _ server: RedisServer) async throws {
        let status = try await play.console.status(of: Play.queue)
        silence = status.sessions.map(\.lastBeatMilliseconds).min() ?? 0
        finished = status.queue.totals["finished"]
        leasesOver = Int(try server.run("ZCOUNT", Play.key("sessions"), "-inf", "\(Play.now)")) ?? 0
        leap = Int(try server.run("HGET", Play.key("seq"), "leap")) ?? 0
        grace = Int(try server.run("HGET", Play.key("seq"), "grace")) ?? 0
    }
}

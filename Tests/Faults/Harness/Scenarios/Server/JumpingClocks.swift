import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Servers whose clocks jump.
extension Scenario {
    static let jumpingClocks = [
        Scenario("F58", "the server's clock jumps an hour ahead", needs: [.faketime]) { play in
            try await jump(play, by: "+3600")
        },
        Scenario("F58b", "the server's clock jumps an hour back", quick: true, needs: [.faketime]) { play in
            try await jump(play, by: "-3600")
        },
        Scenario("F58c", "the server's clock jumps ten years ahead and back again", needs: [.faketime]) { play in
            try await jump(play, by: "+315360000")
        },
    ]

    /// No job is taken from a live worker, a dead one's jobs come back in time, and no token comes twice.
    private static func jump(_ play: Play, by seconds: String) async throws {
        // By our clock the jobs that are due in an hour begin an hour early.
        play.rules { $0.earlyTolerance = 400_000_000_000 }
        let clock = try MovableClock(play)
        let server = try clock.server(play)
        let workers = try await play.workers(2)
        let load = play.load(rate: 40)
        let jumps = play.isFull ? [seconds, "+0", seconds, "+0"] : [seconds, "+0"]
        for (round, offset) in jumps.enumerated() {
            let held = try await play.push(6, "block") { $0.milliseconds = 5000 }
            try await eventually("six jobs run") { held.allSatisfy { play.ledger.begun[$0] != nil } }
            let doomed = try await play.worker { $0.concurrency = 1 }
            let lost = try await play.push(1, "block") { $0.milliseconds = 1500 }
            try await eventually("the seventh runs") { play.ledger.begun[lost[0]] != nil }
            let isDoomed = play.ledger.lines.contains { $0.id == lost[0] && $0.pid == doomed.pid }
            let before = try time(of: server)
            if isDoomed { try await play.kill(doomed) }
            try clock.set(offset)
            try await eventually("the clock has jumped") { abs(try time(of: server) - before) > 3000 }
            play.struck()
            let jumped = ContinuousClock.now
            try await play.recovers("every job ends", within: .seconds(15), since: jumped) {
                (held + lost).allSatisfy { play.ledger.ended[$0] != nil }
            }
            play.expect(held.allSatisfy { play.ledger.begun[$0] == 1 }, "a live worker was robbed in round \(round)")
            try await play.carries(load, within: .seconds(8))
            if !isDoomed { try await play.kill(doomed) }
        }
        try await load.stop()
        try await play.drain()
        try await eventually("the dead sessions are gone") {
            try server.run("ZCARD", KeySpace.key(of: Play.queue) + ":sessions") == "2"
        }
        play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 }, "a session was lost")
        let reused = Checker(accounts: play.accounts, ledger: play.ledger).reusedTokens
        play.expect(reused.isEmpty, "tokens were given out twice: \(reused.prefix(3))")
    }

    private static func time(of server: RedisServer) throws -> Int {
        Int(try server.run("TIME").split(separator: "\n")[0]) ?? 0
    }
}

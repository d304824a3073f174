import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Servers that accept requests and do not reply for a while.
extension Scenario {
    static let frozenServers = [
        Scenario("F35", "the server is suspended for half a lease, and for two") { context in
            try await freeze(context, lengths: context.isFull ? [1, 4, 1, 4, 4] : [1, 4]) { server, length in
                server.kill(SIGSTOP)
                try await Task.sleep(for: length)
                server.kill(SIGCONT)
            }
        },
        Scenario("F35b", "the server sleeps for two leases (DEBUG SLEEP)", quick: true) { context in
            try await freeze(context, lengths: context.isFull ? [1, 4, 4] : [4]) { server, length in
                try server.run("DEBUG", "SLEEP", "\(length / .seconds(1))")
            }
        },
        Scenario("F52", "clients are paused: all of them, or those that write", quick: true) { context in
            try await freeze(context, lengths: context.isFull ? [1, 4, 3, 4] : [4]) { server, length in
                for mode in context.isFull ? ["ALL", "WRITE"] : ["WRITE"] {
                    try server.run("CLIENT", "PAUSE", "\(Int(length / .milliseconds(1)))", mode)
                    try await Task.sleep(for: length)
                }
            }
        },
        Scenario("F53", "a foreign script keeps the server busy, and is killed") { context in
            try await freeze(context, lengths: context.isFull ? [1, 4, 6] : [4], within: .seconds(2)) {
                server,
                length in
                try server.configure("busy-reply-threshold", "200")
                let before = try server.errors("BUSY")
                let busy = Thread { _ = try? server.run("EVAL", "while true do end", "0") }
                busy.start()
                try await Task.sleep(for: length)
                let killed = try server.run("SCRIPT", "KILL")
                context.expect(killed == "OK", "SCRIPT KILL: \(killed)")
                try await eventually("the script is dead") { try server.run("PING") == "PONG" }
                context.expect(try server.errors("BUSY") > before, "no client noticed that the server is busy")
            }
        },
    ]

    /// Long jobs run while the server does not reply; no worker may lose a job because of it.
    ///
    /// - Parameter limit: The time within which new jobs must run again.
    private static func freeze(
        _ context: ScenarioContext,
        lengths: [Int],
        within limit: Duration = .seconds(5),
        _ freeze: (RedisServer, Duration) async throws -> Void
    ) async throws {
        context.rules {
            $0.forbidsDuplicates = true
            $0.forbidsOverlaps = true
        }
        let server = try context.server(["--enable-debug-command", "yes"])
        let workers = try await context.workers(2) { $0.lease = 2000 }
        for length in lengths {
            // Two slots stay free, so that new jobs show when work continues.
            let ids = try await context.push(6, "block") { $0.milliseconds = length * 1000 + 2000 }
            try await eventually("six jobs run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
            async let silence = silence(context, atLeast: .seconds(length))
            try await freeze(server, .seconds(length))
            let healed = ContinuousClock.now
            let silent = try await silence
            let isLong = silent > .seconds(length) * 0.8
            context.injected(isLong ? 1 : 0, or: "the server was silent for \(silent), not for \(length) s")
            let marks = try await context.push(4, "mark")
            try await context.recovers("new jobs run", within: limit, since: healed) {
                marks.allSatisfy { context.ledger.ended[$0] != nil }
            }
            try await eventually("the long jobs' ends are accepted", within: .seconds(5)) {
                let accepted = context.ledger.accepted
                return ids.allSatisfy { accepted[$0] != nil }
            }
            try await context.drain()
        }
        let totals = try await context.totals()
        context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken from workers that ran them")
        context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
    }

    /// The time for which a recovery gets no reply: the proof that the server was suspended.
    ///
    /// Repeated until the server is suspended, so that a recovery is the first call when it continues, before any
    /// heartbeat: every lease has expired then, and only the grace keeps the jobs where they are.
    private static func silence(_ context: ScenarioContext, atLeast length: Duration) async throws -> Duration {
        let broker = try context.console
        let began = ContinuousClock.now
        var longest = Duration.zero
        while true {
            let asked = ContinuousClock.now
            _ = try await broker.recover(on: ScenarioContext.queue)
            longest = max(longest, ContinuousClock.now - asked)
            if longest > length * 0.8 || asked - began > length { return longest }
        }
    }
}

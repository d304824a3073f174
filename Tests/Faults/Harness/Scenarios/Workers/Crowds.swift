import Errand
import ErrandRedis
import TestSupport

/// Very many workers that have nothing to do.
extension Scenario {
    static let crowds = [
        Scenario("F17", "a dozen idle workers, or sixty-four, start and lose their connections at once", quick: true) {
            play in
            try await crowd(play, of: play.size(quick: 12, full: 64))
        },
        // A thousand processes are more than the machine of a test has room for; to the server these are the same.
        Scenario(
            "F17b",
            "a thousand idle workers, fifty a process, start and lose their connections at once",
            limit: .seconds(420)
        ) { play in
            try await crowd(play, of: 1000, inEach: 50, lease: 15000)
        },
    ]

    private static func crowd(_ play: Play, of count: Int, inEach: Int = 1, lease: Int = 2000) async throws {
        let server = try play.server()
        let workers = try await play.workers(count / inEach) {
            $0.waits = false
            $0.lease = lease
            $0.count = inEach
        }
        try await eventually("all are registered", within: .seconds(60)) {
            try await play.console.status(of: Play.queue).sessions.count == count
        }
        let idle = try await commandsASecond(server)
        play.expect(idle <= 15 * count, "\(count) idle workers send \(idle) commands a second")
        play.note("\(count) idle workers send \(idle) commands a second")
        let connected = try server.count("total_connections_received", in: "stats")
        try loseConnections(play, server, of: count)
        if inEach == 1 {
            try await play.expectEveryoneIsBusy(workers)
        } else {
            // The ledger tells processes apart, and not the workers in them.
            let ids = try await play.push(count, "mark")
            try await play.recovers("they work again", within: .seconds(10)) {
                let ended = play.ledger.ended
                return ids.allSatisfy { ended[$0] != nil }
            }
        }
        try await Task.sleep(for: .seconds(2))
        let made = try server.count("total_connections_received", in: "stats") - connected
        play.expect(made < 6 * count + 20, "\(count) workers made \(made) connections")
        let left = try await play.console.status(of: Play.queue).sessions.count
        play.expect(left == count, "\(left) of \(count) sessions are left")
        play.expectInTime(workers.allSatisfy { play.sessions(of: $0).count == inEach }, "a session was lost")
    }

    /// Of each its calls, its heartbeats and its hints.
    private static func loseConnections(_ play: Play, _ server: RedisServer, of count: Int) throws {
        var killed = 0
        for kind in ["normal", "pubsub"] {
            killed += Int(try server.run("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")) ?? 0
        }
        let registered = play.startedWorkers.reduce(0) { $0 + play.sessions(of: $1).count }
        let isWhole = registered == count && killed >= 3 * count
        play.struck(isWhole ? killed : 0, or: "\(registered) were registered, and lost \(killed) connections")
    }

    private static func commandsASecond(_ server: RedisServer) async throws -> Int {
        // What scripts do inside counts elsewhere.
        let before = try server.calls("evalsha")
        try await Task.sleep(for: .seconds(3))
        return try (server.calls("evalsha") - before) / 3
    }
}

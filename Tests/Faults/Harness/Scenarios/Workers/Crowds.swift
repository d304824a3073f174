import Errand
import ErrandRedis
import TestSupport

/// Very many idle workers.
extension Scenario {
    static let crowds = [
        Scenario("F17", "a dozen idle workers, or sixty-four, start and lose their connections at once", quick: true) {
            context in
            try await crowd(context, of: context.size(quick: 12, full: 64))
        },
        // A thousand processes exceed a test machine; to the server these are the same.
        Scenario(
            "F17b",
            "a thousand idle workers, fifty a process, start and lose their connections at once",
            limit: .seconds(420)
        ) { context in
            try await crowd(context, of: 1000, inEach: 50, lease: 15000)
        },
    ]

    private static func crowd(
        _ context: ScenarioContext,
        of count: Int,
        inEach: Int = 1,
        lease: Int = 2000
    ) async throws {
        let server = try context.server()
        let workers = try await context.workers(count / inEach) {
            $0.waits = false
            $0.lease = lease
            $0.count = inEach
        }
        try await eventually("all are registered", within: .seconds(60)) {
            try await context.console.status(of: ScenarioContext.queue).sessions.count == count
        }
        let idle = try await commandsASecond(server)
        context.expect(idle <= 15 * count, "\(count) idle workers send \(idle) commands a second")
        context.note("\(count) idle workers send \(idle) commands a second")
        let connected = try server.count("total_connections_received", in: "stats")
        try loseConnections(context, server, of: count)
        if inEach == 1 {
            try await context.expectEveryoneIsBusy(workers)
        } else {
            // The ledger distinguishes processes, not the workers in them.
            let ids = try await context.push(count, "mark")
            try await context.recovers("they work again", within: .seconds(10)) {
                let ended = context.ledger.ended
                return ids.allSatisfy { ended[$0] != nil }
            }
        }
        try await Task.sleep(for: .seconds(2))
        let made = try server.count("total_connections_received", in: "stats") - connected
        context.expect(made < 6 * count + 20, "\(count) workers made \(made) connections")
        let left = try await context.console.status(of: ScenarioContext.queue).sessions.count
        context.expect(left == count, "\(left) of \(count) sessions are left")
        context.expectInTime(workers.allSatisfy { context.sessions(of: $0).count == inEach }, "a session was lost")
    }

    /// The connections of each: for calls, heartbeats and wake-ups.
    private static func loseConnections(_ context: ScenarioContext, _ server: RedisServer, of count: Int) throws {
        var killed = 0
        for kind in ["normal", "pubsub"] {
            killed += Int(try server.run("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")) ?? 0
        }
        let registered = context.startedWorkers.reduce(0) { $0 + context.sessions(of: $1).count }
        let isWhole = registered == count && killed >= 3 * count
        context.injected(isWhole ? killed : 0, or: "\(registered) were registered, and lost \(killed) connections")
    }

    private static func commandsASecond(_ server: RedisServer) async throws -> Int {
        // Commands within scripts are counted elsewhere.
        let before = try server.calls("evalsha")
        try await Task.sleep(for: .seconds(3))
        return try (server.calls("evalsha") - before) / 3
    }
}

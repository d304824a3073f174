import Errand
import Foundation
import TestSupport

/// Servers that close or reject connections.
extension Scenario {
    static let lostConnections = [
        Scenario("F29", "the server closes idle connections after a second") { context in
            context.rules { $0.forbidsGrace = true }
            let server = try context.server(tcp: true, ["--timeout", "1"])
            let workers = try await context.workers(2) {
                $0.url = server.tcpURL
                // So that a heartbeat's connection is idle for longer than that.
                $0.lease = 8000
            }
            for _ in 0..<context.size(quick: 3, full: 20) {
                let before = try server.count("total_connections_received")
                try await Task.sleep(for: .milliseconds(2500))
                let ids = try await context.push(10, "mark")
                try await context.recovers("the jobs run", within: .seconds(5)) {
                    ids.allSatisfy { context.ledger.ended[$0] != nil }
                }
                // The harness itself has at most one connection a call.
                context.injected(try server.count("total_connections_received") > before + 2 ? 1 : 0)
            }
            try await context.expectEveryoneIsBusy(workers)
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        },
        Scenario("F29b", "every connection is closed every 200 ms", quick: true) { context in
            let server = try context.server(tcp: true)
            let workers = try await context.workers(2) { $0.url = server.tcpURL }
            let producer = try context.connect(server.tcpURL)
            let load = context.load(rate: 50, via: producer)
            for round in 0..<context.size(quick: 40, full: 300) {
                try await Task.sleep(for: .milliseconds(200))
                let killed = try server.run("CLIENT", "KILL", "TYPE", round % 2 == 0 ? "normal" : "pubsub")
                context.injected(Int(killed) ?? 0)
            }
            try await context.carries(load, within: .seconds(8))
            try await load.stop()
            try await context.expectEveryoneIsBusy(workers)
            context.expectAlive(workers)
        },
        Scenario("F33", "the server accepts no more connections", quick: true) { context in
            let server = try context.server(tcp: true)
            let producer = try context.connect(server.tcpURL)
            let first = try await context.worker { $0.url = server.tcpURL }
            let load = context.load(rate: 50, via: producer)
            try await context.carries(load, within: .seconds(10))
            let clients = try await context.fact("connected_clients")
            _ = try await context.ask("CONFIG", "SET", "maxclients", clients)
            let second = try await context.worker {
                $0.url = server.tcpURL
                $0.waits = false
            }
            try await eventually("connections are refused") { try await context.fact("rejected_connections") != "0" }
            // Now the first worker loses a connection, too, and they compete for the free one.
            _ = try await context.ask("CLIENT", "KILL", "TYPE", "pubsub")
            let seconds = context.size(quick: 2, full: 20)
            try await Task.sleep(for: .seconds(seconds))
            let rejected = Int(try await context.fact("rejected_connections")) ?? 0
            context.injected(rejected)
            context.note("\(rejected) connections were rejected in \(seconds) s")
            context.expect(rejected <= mostRejected(within: seconds), "\(rejected) were rejected in \(seconds) s")
            try await context.carries(load, within: .seconds(8))
            context.expect(first.isRunning, "the first worker ended: \(first.lines.suffix(3))")
            context.expect(second.isRunning, "the second worker did not wait: \(second.lines.suffix(3))")
            _ = try await context.ask("CONFIG", "SET", "maxclients", "1000")
            let healed = ContinuousClock.now
            try await context.recovers("the second worker registers", within: .seconds(5), since: healed) {
                !context.sessions(of: second).isEmpty
            }
            try await load.stop()
            try await context.expectEveryoneIsBusy([first, second])
        },
    ]

    /// The pauses between attempts double from 50 ms to 2 s, each a random part of that: each of the few competing
    /// connections makes some attempts in the first seconds, and hardly more than two a second afterwards.
    private static func mostRejected(within seconds: Int) -> Int {
        let contending = 4
        return contending * (12 + 2 * seconds)
    }
}

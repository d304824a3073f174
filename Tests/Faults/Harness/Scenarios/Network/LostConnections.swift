import Errand
import Foundation
import TestSupport

/// Servers that end connections, or take none.
extension Scenario {
    static let lostConnections = [
        Scenario("F29", "the server closes idle connections after a second") { play in
            play.rules { $0.forbidsGrace = true }
            let server = try play.server(tcp: true, ["--timeout", "1"])
            let workers = try await play.workers(2) {
                $0.url = server.tcpURL
                // So that a heartbeat's connection is idle for longer than that.
                $0.lease = 8000
            }
            for _ in 0..<play.size(quick: 3, full: 20) {
                let before = try server.count("total_connections_received")
                try await Task.sleep(for: .milliseconds(2500))
                let ids = try await play.push(10, "mark")
                try await play.recovers("the jobs run", within: .seconds(5)) {
                    ids.allSatisfy { play.ledger.ended[$0] != nil }
                }
                // Those of the harness itself are not more than one a question.
                play.struck(try server.count("total_connections_received") > before + 2 ? 1 : 0)
            }
            try await play.expectEveryoneIsBusy(workers)
            play.expect(workers.allSatisfy { play.sessions(of: $0).count == 1 }, "a session was lost")
        },
        Scenario("F29b", "every connection is ended every 200 ms", quick: true) { play in
            let server = try play.server(tcp: true)
            let workers = try await play.workers(2) { $0.url = server.tcpURL }
            let producer = try play.connect(server.tcpURL)
            let load = play.load(rate: 50, via: producer)
            for round in 0..<play.size(quick: 40, full: 300) {
                try await Task.sleep(for: .milliseconds(200))
                let killed = try server.run("CLIENT", "KILL", "TYPE", round % 2 == 0 ? "normal" : "pubsub")
                play.struck(Int(killed) ?? 0)
            }
            try await play.carries(load, within: .seconds(8))
            try await load.stop()
            try await play.expectEveryoneIsBusy(workers)
            play.expectAlive(workers)
        },
        Scenario("F33", "the server takes no more connections", quick: true) { play in
            let server = try play.server(tcp: true)
            let producer = try play.connect(server.tcpURL)
            let first = try await play.worker { $0.url = server.tcpURL }
            let load = play.load(rate: 50, via: producer)
            try await play.carries(load, within: .seconds(10))
            let clients = try await play.fact("connected_clients")
            _ = try await play.ask("CONFIG", "SET", "maxclients", clients)
            let second = try await play.worker {
                $0.url = server.tcpURL
                $0.waits = false
            }
            try await eventually("connections are refused") { try await play.fact("rejected_connections") != "0" }
            // Now the first one loses a connection, too, and they contend for the place.
            _ = try await play.ask("CLIENT", "KILL", "TYPE", "pubsub")
            let seconds = play.size(quick: 2, full: 20)
            try await Task.sleep(for: .seconds(seconds))
            let rejected = Int(try await play.fact("rejected_connections")) ?? 0
            play.struck(rejected)
            play.note("\(rejected) connections were rejected in \(seconds) s")
            play.expect(rejected <= mostRejected(within: seconds), "\(rejected) were rejected in \(seconds) s")
            try await play.carries(load, within: .seconds(8))
            play.expect(first.isRunning, "the first worker ended: \(first.lines.suffix(3))")
            play.expect(second.isRunning, "the second worker did not wait: \(second.lines.suffix(3))")
            _ = try await play.ask("CONFIG", "SET", "maxclients", "1000")
            let healed = ContinuousClock.now
            try await play.recovers("the second worker registers", within: .seconds(5), since: healed) {
                !play.sessions(of: second).isEmpty
            }
            try await load.stop()
            try await play.expectEveryoneIsBusy([first, second])
        },
    ]

    /// The pauses between attempts double from 50 ms to 2 s, each by chance anything up to that: of each of the few connections that
    /// contend, some attempts in the first seconds, and hardly more than two a second from then on.
    private static func mostRejected(within seconds: Int) -> Int {
        let contending = 4
        return contending * (12 + 2 * seconds)
    }
}

import Errand
import Foundation
import TestSupport

/// A server's name that comes to mean another address.
extension Scenario {
    static let movedServers = [
        Scenario(
            "F34",
            "the server's name means another address, where its replica was promoted",
            quick: true,
            needs: [.networkNamespaces]
        ) { play in
            let network = try NetworkNamespace(play, hosts: "127.0.0.1 localhost broker.test\n")
            let first = try network.server(play)
            let second = try network.server(play, on: ["127.0.0.2"], ["--port", "\(first.port)"])
            _ = try second.run("REPLICAOF", "127.0.0.1", "\(first.port)")
            try await eventually("the replica is in step") { try second.fact("master_link_status") == "up" }
            let worker = try await play.worker {
                $0.url = "redis://\(first.credentials)broker.test:\(first.port)"
                $0.prefix = network.prefix
            }
            let ids = try await play.push(20, "mark")
            try await eventually("the jobs run") { ids.allSatisfy { play.ledger.ended[$0] != nil } }
            try await eventually("the replica has all") {
                try second.fact("master_repl_offset") == first.fact("master_repl_offset")
            }
            first.kill(SIGKILL)
            _ = try second.run("REPLICAOF", "NO", "ONE")
            try network.hosts("127.0.0.1 localhost\n127.0.0.2 broker.test\n")
            play.struck()
            try play.watch(second)
            let promoted = ContinuousClock.now
            let more = try await play.push(20, "mark")
            try await play.recovers("the worker has found the new address", within: .seconds(10), since: promoted) {
                more.allSatisfy { play.ledger.ended[$0] != nil }
            }
            play.expect(worker.isRunning, "the worker ended")
        }
    ]
}

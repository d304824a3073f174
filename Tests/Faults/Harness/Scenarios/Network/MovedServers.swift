import Errand
import Foundation
import TestSupport

/// A server's name that changes its address.
extension Scenario {
    static let movedServers = [
        Scenario(
            "F34",
            "the server's name leads to another address, where its replica was promoted",
            quick: true,
            needs: [.networkNamespaces]
        ) { context in
            let network = try NetworkNamespace(context, hosts: "127.0.0.1 localhost broker.test\n")
            let first = try network.server(context)
            let second = try network.server(context, on: ["127.0.0.2"], ["--port", "\(first.port)"])
            _ = try second.run("REPLICAOF", "127.0.0.1", "\(first.port)")
            try await eventually("the replica is in step") { try second.fact("master_link_status") == "up" }
            let worker = try await context.worker {
                $0.url = "redis://\(first.credentials)broker.test:\(first.port)"
                $0.prefix = network.prefix
            }
            let ids = try await context.push(20, "mark")
            try await eventually("the jobs run") { ids.allSatisfy { context.ledger.ended[$0] != nil } }
            try await eventually("the replica has all") {
                try second.fact("master_repl_offset") == first.fact("master_repl_offset")
            }
            first.kill(SIGKILL)
            _ = try second.run("REPLICAOF", "NO", "ONE")
            try network.hosts("127.0.0.1 localhost\n127.0.0.2 broker.test\n")
            context.injected()
            try context.watch(second)
            let promoted = ContinuousClock.now
            let more = try await context.push(20, "mark")
            try await context.recovers("the worker has found the new address", within: .seconds(10), since: promoted) {
                more.allSatisfy { context.ledger.ended[$0] != nil }
            }
            context.expect(worker.isRunning, "the worker ended")
        }
    ]
}

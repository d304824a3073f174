import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Failovers from primaries to their replicas, behind an address that is switched.
extension Scenario {
    static let failovers = [
        Scenario("F55", "the primary dies under load, and its replica is promoted", quick: true) { context in
            context.rules { $0.serverLosesData = true }
            for _ in 0..<context.size(quick: 2, full: 15) {
                let pair = try await Pair(context)
                try await failOver(context, pair) { pair.primary.kill(SIGKILL) }
            }
        },
        Scenario("F55b", "the primary is suspended, replaced, and returns as a replica") { context in
            context.rules { $0.serverLosesData = true }
            for _ in 0..<context.size(quick: 1, full: 10) {
                let pair = try await Pair(context)
                try await failOver(context, pair) { pair.primary.kill(SIGSTOP) }
                pair.primary.kill(SIGCONT)
                try await pair.follow(pair.replica, from: pair.primary)
            }
        },
        Scenario("F56", "an old primary still accepts jobs from connected clients", quick: true) { context in
            context.rules { $0.serverLosesData = true }
            try await splitBrain(context, protected: false)
        },
        Scenario("F56b", "the same with min-replicas-to-write: it rejects them", quick: true) { context in
            // The last accepted reports may not have reached its replica, because of the lag.
            context.rules { $0.mayRunAfterItsEnd = true }
            try await splitBrain(context, protected: true)
        },
        Scenario("F57", "the server becomes a replica without a primary, and a primary again", quick: true) { context in
            context.rules { $0.forbidsDuplicates = true }
            let server = try context.server(tcp: true)
            let workers = try await context.workers(2) { $0.url = server.tcpURL }
            let producer = try context.connect(server.tcpURL, patience: .milliseconds(300))
            let load = context.load(rate: 60, via: producer)
            for _ in 0..<context.size(quick: 2, full: 20) {
                try await context.carries(load, within: .seconds(8))
                let before = try server.errors("READONLY")
                let connections = try server.count("total_connections_received")
                let pushing = try connected(to: server, as: "fault-producer")
                context.expectInjection(!pushing.isEmpty, "no producer was connected")
                try server.run("REPLICAOF", "127.0.0.1", "1")
                try await Task.sleep(for: .seconds(3))
                // The address may lead to another server now: a client that finds a replica must connect again.
                let stayed = try connected(to: server, as: "fault-producer").intersection(pushing)
                context.expect(stayed.isEmpty, "a producer kept its connection to a replica")
                let refused = try server.errors("READONLY") - before
                let tried = try server.count("total_connections_received") - connections
                context.expect(tried < 300, "\(tried) connections were made in 3 s")
                try server.run("REPLICAOF", "NO", "ONE")
                let healed = ContinuousClock.now
                context.injected(refused, or: "no client noticed that it is a replica")
                try await context.carries(load, within: .seconds(5), since: healed)
            }
            try await load.stop()
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
            try await context.expectEveryoneIsBusy(workers)
        },
    ]

    /// The connections with this name, by the server's ids.
    private static func connected(to server: RedisServer, as name: String) throws -> Set<String> {
        let clients = try server.run("CLIENT", "LIST").split(separator: "\n").filter { $0.contains(" name=\(name) ") }
        return Set(clients.compactMap { $0.split(separator: " ").first.map(String.init) })
    }

    private static func failOver(_ context: ScenarioContext, _ pair: Pair, _ injection: () -> Void) async throws {
        let workers = try await context.workers(2) { $0.url = pair.proxy.url }
        let producer = try context.connect(
            pair.proxy.url,
            patience: .milliseconds(300),
            commandTimeout: .milliseconds(500)
        )
        let load = context.load(rate: 150, "nap", via: producer) { $0.milliseconds = 10 }
        try await context.carries(load, within: .seconds(10))
        injection()
        try await Task.sleep(for: .milliseconds(context.random(100...3000)))
        try await pair.promote(context)
        let promoted = ContinuousClock.now
        context.injected()
        try await context.carries(load, within: .seconds(20), since: promoted)
        try await load.stop()
        let findings = try await context.audit()
        context.expect(findings.isEmpty, "after the promotion the audit found \(findings.prefix(3).map(\.message))")
        context.expectAlive(workers)
        try await context.expectEveryoneIsBusy(workers)
        try await context.drain()
        try await context.expectNothingLostSinceTheLastInjection()
        try await context.leave()
    }

    /// Workers and one producer follow the new primary; another producer continues with the old one.
    private static func splitBrain(_ context: ScenarioContext, protected: Bool) async throws {
        let pair = try await Pair(context)
        if protected {
            try pair.primary.configure("min-replicas-to-write", "1")
            try pair.primary.configure("min-replicas-max-lag", "1")
        }
        let workers = try await context.workers(2) { $0.url = pair.proxy.url }
        try await context.push(50, "mark")
        try await context.drain()
        // Cut off from its replica, the old primary does not learn of the promotion.
        try await pair.promote(context)
        let minority = try context.connect(pair.primary.url, patience: .milliseconds(300))
        var taken: [String] = []
        var refused = 0
        for _ in 0..<context.size(quick: 15, full: 60) {
            try await Task.sleep(for: .milliseconds(200))
            let job = try context.job("mark")
            context.accounts.tries([job], ends: true)
            do throws(BrokerError) {
                context.accounts.took(try await Producer(broker: minority).push(envelopes: [job]), of: [job])
                taken.append(job.id)
            } catch {
                context.expect(error.code == .notReachable, "the old primary refused by \(error)")
                refused += 1
            }
        }
        try await context.push(50, "mark")
        // Called before it follows, because it then rejects writes as a replica.
        let toldOfNoReplicas = try pair.primary.errors("NOREPLICAS")
        try await pair.follow(pair.replica, from: pair.primary)
        if protected {
            context.injected(toldOfNoReplicas, or: "the old primary refused nothing for want of a replica")
            // Writes that it accepted before it noticed the silence of its replica are lost, too.
            context.expect(refused > taken.count, "the old primary took \(taken.count) and refused only \(refused)")
            context.rules { $0.serverLosesData = !taken.isEmpty }
        } else {
            context.injected(taken.count, or: "the old primary took nothing")
        }
        try await context.drain()
        let lost = context.accounts.accepted.filter { context.ledger.ended[$0] == nil }
        context.expect(Set(lost).isSubset(of: taken), "more was lost than what the old primary took alone")
        context.expectAlive(workers)
    }
}

/// A primary with its replica, and an address that is switched from one to the other.
private struct Pair {
    let primary: RedisServer
    let replica: RedisServer
    let proxy: ChaosProxy

    init(_ context: ScenarioContext) async throws {
        primary = try context.server(tcp: true, ["--repl-diskless-sync-delay", "0"])
        replica = try context.server(tcp: true, ["--replicaof", "127.0.0.1 \(primary.port)"])
        proxy = try context.proxy(primary)
        try context.watch(primary)
        let replica = replica
        try await eventually("the replica is in step") { try replica.fact("master_link_status") == "up" }
    }

    func promote(_ context: ScenarioContext) async throws {
        try replica.run("REPLICAOF", "NO", "ONE")
        proxy.switchOver(to: replica)
        try context.watch(replica)
    }

    func follow(_ primary: RedisServer, from old: RedisServer) async throws {
        try old.run("REPLICAOF", "127.0.0.1", "\(primary.port)")
        try await eventually("the old primary follows") { try old.fact("master_link_status") == "up" }
    }
}

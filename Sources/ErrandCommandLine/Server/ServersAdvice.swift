package import Errand
import ErrandOperator
package import ErrandRedis
import ErrandText

/// Checks all servers of a broker, and a cluster as a whole, for dangers to jobs.
package struct ServersAdvice: Sendable {
    /// The advice.
    package private(set) var advice: [Advice] = []
    /// The servers that do not reply.
    package private(set) var unreachable: [String] = []

    /// Reads the facts from all servers that have queues.
    package init(broker: RedisBroker) async throws(BrokerError) {
        let servers = try await broker.serverStates(for: [])
        guard !servers.isEmpty else {
            advice = try await ServerAdvice(broker: broker).advice
            return
        }
        unreachable = servers.filter { !$0.isReachable }.map(\.address)
        let masters = servers.filter { $0.follows == nil }
        for server in masters where server.isReachable {
            let facts = try await ServerFacts.ask(broker, at: try broker.place(of: server))
            advice += ServerAdvice(facts: facts).advice.map { $0.about(server.address) }
            if let shared = Self.coverage(facts), server == masters.first { advice.append(shared) }
        }
        advice += Self.replicas(of: masters, among: servers)
    }

    private static func coverage(_ facts: ServerFacts) -> Advice? {
        guard facts.settings["cluster-require-full-coverage"] == "yes" else { return nil }
        return Advice(
            kind: "cluster_coverage",
            message:
                "cluster-require-full-coverage is yes: while one master is lost and has no replica, all queues stop, "
                + "and not only those of its slots. Set it to no on all servers"
        )
    }

    private static func replicas(of masters: [ServerState], among servers: [ServerState]) -> [Advice] {
        let followed = Set(servers.filter(\.isReachable).compactMap(\.follows))
        let alone = masters.map(\.address).filter { !followed.contains($0) }
        guard !alone.isEmpty else { return [] }
        return [
            Advice(
                kind: "cluster_replicas",
                message:
                    "no replica follows \(alone.joined(separator: ", ")): while such a server is lost, its queues stop, "
                    + "and what is not on its disk is lost. Add a replica to each master"
            )
        ]
    }
}

extension Advice {
    fileprivate func about(_ server: String) -> Advice {
        Advice(kind: kind, queue: queue, message: "\(server): \(message)")
    }
}

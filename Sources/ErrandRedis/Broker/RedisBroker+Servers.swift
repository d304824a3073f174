package import Errand

extension RedisBroker: ServerListing {
    /// A server that does not reply for so long is shown as not reachable.
    private static let probeTime = Duration.seconds(2)

    package var isKnownCluster: Bool { servers.shards != nil }

    /// Returns the masters and replicas of the cluster, with which of these queues each master serves; none if there is
    /// no cluster. Each of them is called, all at once.
    package func serverStates(for queues: [String]) async throws(BrokerError) -> [ServerState] {
        guard try await isCluster(), let shards = servers.shards else { return [] }
        let groups = servers.groups(of: queues).groups
        let all = shards.flatMap { shard in
            [(shard.master, HostAndPort?.none)] + shard.replicas.map { ($0, shard.master) }
        }
        let places = all.map { address.server($0.0) }
        let replies = await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, place) in places.enumerated() { group.addTask { (index, await self.isReachable(place)) } }
            return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
        }
        return all.indices.map { index in
            ServerState(
                address: all[index].0.description,
                follows: all[index].1?.description,
                isReachable: replies[index] ?? false,
                queues: groups[places[index]] ?? []
            )
        }
    }

    package func queuesOfReachableServers() async throws(BrokerError) -> [String] {
        var queues: Set<String> = []
        for server in try await serverStates(for: []) where server.isReachable && server.follows == nil {
            queues.formUnion(Self.queues(in: try await keys(like: KeySpace.pattern, for: try place(of: server))))
        }
        return queues.sorted()
    }

    /// Returns the queues that keys belong to.
    static func queues(in keys: Set<String>) -> Set<String> {
        Set(keys.compactMap { KeySpace.queue(in: $0) }.filter { QueueName.isValid($0) })
    }

    /// Returns where to send a command to a server.
    package func place(of server: ServerState) throws(BrokerError) -> CommandPlace {
        .server(address.server(try HostAndPort.read(server.address[...])))
    }

    private func isReachable(_ place: RedisAddress) async -> Bool {
        var options = options
        (options.patience, options.connectTimeout, options.commandTimeout) = (.zero, Self.probeTime, Self.probeTime)
        let connection = Connection(place, options, logger: logger)
        defer { connection.close() }
        return (try? await connection.send(.command("PING"))) != nil
    }
}

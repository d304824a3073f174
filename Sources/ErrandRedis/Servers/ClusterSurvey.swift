import Errand
import ErrandText

/// Reads a cluster's slot map from any of its servers.
struct ClusterSurvey: Sendable {
    let address: RedisAddress
    let options: ConnectionOptions

    init(_ address: RedisAddress, _ options: ConnectionOptions) {
        self.address = address
        var options = options
        // Others can be asked instead of a server that does not reply.
        options.connectTimeout = min(options.connectTimeout, .seconds(1))
        options.commandTimeout = min(options.commandTimeout, .seconds(1))
        options.clientName += "-slots"
        self.options = options
    }

    /// Asks servers in turn. A server that is cut off from most others says that the cluster fails, and its map is used
    /// only if no other server replies.
    ///
    /// - Throws: The error of the last server if none has replied.
    func read(from servers: [HostAndPort]) throws(BrokerError) -> SlotMap {
        var doubtful: SlotMap?
        var problem = BrokerError(.notReachable, "\(address): no server of the cluster is known")
        for server in servers {
            do throws(BrokerError) {
                let (map, isWell) = try ask(server)
                if isWell { return map }
                doubtful = doubtful ?? map
            } catch { problem = error }
        }
        guard let doubtful else { throw problem }
        return doubtful
    }

    private func ask(_ server: HostAndPort) throws(BrokerError) -> (map: SlotMap, isWell: Bool) {
        let place = address.server(server)
        var context = try HiredisContext.greeted(place, options)
        let commands = [CommandWriter.command("CLUSTER", "INFO"), .command("CLUSTER", "SLOTS")]
        let replies = try context.roundTrip(commands.flatMap(\.bytes), replies: commands.count)
        if case .error(let text) = replies[1] { throw problem(ServerError(text), at: place, server) }
        guard let map = SlotMap(replies[1], from: server) else {
            throw BrokerError(
                .protocolViolation,
                "\(place) answered CLUSTER SLOTS with something that is not a list of slots; check that the address belongs "
                    + "to a server of a cluster"
            )
        }
        // If the user may not call CLUSTER INFO, the reply is an error, and only the map counts.
        let state = replies[0].text ?? "cluster_state:ok"
        return (map, state.contains("cluster_state:ok") && !map.masters.isEmpty)
    }

    private func problem(_ error: ServerError, at place: RedisAddress, _ server: HostAndPort) -> BrokerError {
        guard error.text.contains("cluster support disabled") else { return error.brokerError(at: place) }
        return BrokerError(.refused, "\(server) is not a server of a cluster; use a URL that begins with redis://")
    }
}

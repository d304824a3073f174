/// A server of a broker that has several, such as one of a cluster.
package struct ServerState: Sendable, Equatable {
    /// `host:port`.
    package let address: String
    /// The master that it follows, if it is a replica.
    package let follows: String?
    /// Whether it has just replied.
    package let isReachable: Bool
    /// Those queues that it serves.
    package let queues: [String]

    /// Makes a state.
    package init(address: String, follows: String?, isReachable: Bool, queues: [String]) {
        self.address = address
        self.follows = follows
        self.isReachable = isReachable
        self.queues = queues
    }

    /// The error for its queues if it is not reachable.
    package var silence: BrokerError { BrokerError(.notReachable, "\(address) does not reply") }
}

/// A broker that may have several servers.
package protocol ServerListing: Sendable {
    /// Whether it has several servers, as far as it knows without calling one.
    var isKnownCluster: Bool { get }

    /// Returns the servers, and which of these queues each serves; none if there is only one.
    func serverStates(for queues: [String]) async throws(BrokerError) -> [ServerState]

    /// Returns the queues that have keys on the servers that reply, sorted by name. It walks over all keys, and is
    /// meant for the time in which the server of the registry does not reply.
    func queuesOfReachableServers() async throws(BrokerError) -> [String]
}

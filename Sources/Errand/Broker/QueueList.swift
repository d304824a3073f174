/// The names of all queues, or of those that can be found while the server of a cluster that lists them does not reply.
package struct QueueList: Sendable {
    /// The names, sorted.
    package let names: [String]
    /// Why queues may be missing: the list itself cannot be read.
    package let problem: BrokerError?

    /// Makes a list of names that are known otherwise.
    package init(_ names: [String]) { (self.names, problem) = (names, nil) }

    /// Reads the list. If its server does not reply, it takes the queues that have keys on the cluster's other servers.
    package init(of broker: any ConsoleBroker) async throws(BrokerError) {
        do throws(BrokerError) {
            names = try await broker.queues()
            problem = nil
        } catch { self = try await Self(of: broker, without: error) }
    }

    /// Finds the queues on the servers that reply.
    ///
    /// - Parameter error: Why the list cannot be read; it is thrown if there are no other servers.
    package init(of broker: any ConsoleBroker, without error: BrokerError) async throws(BrokerError) {
        guard error.code == .notReachable, let cluster = broker as? any ServerListing,
            try await !cluster.serverStates(for: []).isEmpty
        else { throw error }
        names = try await cluster.queuesOfReachableServers()
        problem = BrokerError(
            .notReachable,
            "the list of queues cannot be read, so those of servers that do not reply are missing: \(error.message)"
        )
    }
}

package import Errand

/// Queues by whether their servers reply. Those of a server that does not are not waited for.
package struct ReachableQueues: Sendable {
    /// The queues of servers that reply, in the order in which they were given.
    package let names: [String]
    /// The other queues.
    package let lost: [UnreadablePlace]
    /// The servers of a cluster; none if there is only one, whose queues all count as reachable.
    package let servers: [ServerState]

    /// Asks the servers, all at once.
    package init(of queues: [String], on broker: any ConsoleBroker) async throws(BrokerError) {
        servers = try await (broker as? any ServerListing)?.serverStates(for: queues) ?? []
        lost = servers.filter { !$0.isReachable }.flatMap { server in
            server.queues.map { UnreadablePlace(queue: $0, error: server.silence) }
        }
        let silent = Set(lost.map(\.queue))
        names = queues.filter { !silent.contains($0) }
    }
}

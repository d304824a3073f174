package import Errand

extension Overview {
    /// Reads the state of queues. Those that cannot be read are in ``unreadable``.
    ///
    /// - Parameters:
    ///   - queues: The queues, in the order of the overview.
    ///   - broker: The broker to read from.
    package init(of queues: [String], on broker: any ConsoleBroker) async throws(BrokerError) {
        self.init()
        let read = try await queues.readingEach { queue throws(BrokerError) in try await broker.status(of: queue) }
        for (status, sessions) in read.values.map(\.value) { add(status, sessions) }
        unreadable = read.unreadable
    }

    /// Reads the state of queues and of the servers. Queues of servers that do not reply are not waited for, and are in
    /// ``unreadable``.
    package init(of queues: [String], withServersOf broker: any ConsoleBroker) async throws(BrokerError) {
        let reachable = try await ReachableQueues(of: queues, on: broker)
        try await self.init(of: reachable.names, on: broker)
        servers = reachable.servers
        unreadable += reachable.lost
    }
}

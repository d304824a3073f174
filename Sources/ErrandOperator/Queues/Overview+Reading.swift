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
}

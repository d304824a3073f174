package import Errand

extension Overview {
    /// Reads the state of queues; those that cannot be read are ``unreadable``.
    ///
    /// - Parameters:
    ///   - queues: Which ones, in the order in which they are to be shown.
    ///   - broker: Who is asked.
    package init(of queues: [String], on broker: any ConsoleBroker) async throws(BrokerError) {
        self.init()
        let read = try await queues.readingEach { queue throws(BrokerError) in try await broker.status(of: queue) }
        for (status, sessions) in read.values.map(\.value) { add(status, sessions) }
        unreadable = read.unreadable
    }
}

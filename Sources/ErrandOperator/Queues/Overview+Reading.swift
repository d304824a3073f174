package import Errand

extension Overview {
    /// Reads the state of queues.
    ///
    /// - Parameters:
    ///   - queues: Which ones, in the order in which they are to be shown.
    ///   - broker: Who is asked.
    package init(of queues: [String], on broker: any ConsoleBroker) async throws(BrokerError) {
        self.init()
        let all = try await queues.concurrently { queue throws(BrokerError) in try await broker.status(of: queue) }
        for (status, sessions) in all { add(status, sessions) }
    }
}

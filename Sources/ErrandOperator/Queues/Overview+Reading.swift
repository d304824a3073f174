package import Errand

extension Overview {
    /// Reads the state of queues.
    package init(of queues: [String], on broker: any ConsoleBroker) async throws(BrokerError) {
        self.init()
        for queue in queues {
            let (status, sessions) = try await broker.status(of: queue)
            add(status, sessions)
        }
    }
}

/// The queues that cannot be served because servers of the broker do not reply, as calls have found out.
///
/// A server that does not reply is waited for once, and not again for each of its queues.
package struct LostQueues: Sendable {
    /// A failover may have made a queue reachable again after this time.
    private static let kept = Duration.seconds(10)

    /// The error of a broker of which no server can be called; `nil` if there may be one.
    package private(set) var outage: BrokerError?
    private var reasons: [String: BrokerError] = [:]
    private var since: ContinuousClock.Instant?

    /// Makes an empty set.
    package init() {}

    /// Returns why a queue cannot be served; `nil` if it can be tried.
    package func reason(for queue: String) -> BrokerError? { outage ?? reasons[queue] }

    /// Forgets all queues some time after the first of them was lost, so that they are tried again.
    package mutating func forgetOld() {
        if let since, since + Self.kept < .now { self = LostQueues() }
    }

    /// Notes the error of a call. Of a cluster, it concerns the queues of the servers that do not reply; any other
    /// broker is lost as a whole, and so is a cluster whose server of this queue replies, but not to this call.
    ///
    /// - Parameters:
    ///   - error: The error; one that does not mean an outage is ignored.
    ///   - queue: The queue that the call was for.
    ///   - queues: The queues that the caller is about to use.
    ///   - broker: The broker that was called.
    package mutating func note(
        _ error: BrokerError,
        of queue: String,
        among queues: [String],
        on broker: any ProducingBroker
    ) async {
        guard [.notReachable, .closed].contains(error.code) else { return }
        since = since ?? .now
        guard error.code == .notReachable, let cluster = broker as? any ServerListing,
            // A single server that does not reply is not waited for again.
            cluster.isKnownCluster,
            let servers = try? await cluster.serverStates(for: queues + [queue]),
            servers.contains(where: { $0.isReachable && $0.follows == nil }),
            servers.first(where: { $0.queues.contains(queue) })?.isReachable != true
        else {
            outage = error
            return
        }
        for server in servers where !server.isReachable {
            for queue in server.queues { reasons[queue] = server.silence }
        }
        reasons[queue] = error
    }
}

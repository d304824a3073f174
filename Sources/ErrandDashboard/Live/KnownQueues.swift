import Errand
import Synchronization

/// The queues for the pages. While the server of a cluster that lists them does not reply, each request would wait for
/// it, so what was found without it holds for a few seconds.
final class KnownQueues: Sendable {
    private static let held = Duration.seconds(5)

    private let broker: any Broker
    private let partial = Mutex<(list: QueueList, until: ContinuousClock.Instant)?>(nil)

    init(broker: any Broker) { self.broker = broker }

    /// Returns the names, sorted.
    func names() async throws(BrokerError) -> [String] {
        if let partial = partial.withLock({ $0 }), partial.until > .now { return partial.list.names }
        let list = try await QueueList(of: broker)
        partial.withLock { $0 = list.problem == nil ? nil : (list, .now + Self.held) }
        return list.names
    }

    /// Why queues are missing; `nil` if none are.
    var problem: String? { partial.withLock { $0?.list.problem?.message } }
}

extension MemoryBroker {
    /// Pushes a batch of jobs to one queue; see ``PushingBroker/push(_:to:)``. The outcome is never `unknown` here.
    public func push(_ jobs: [JobEnvelope], to queue: String) async throws(BrokerError) -> [Receipt] {
        let (receipts, full) = try change(queue, creating: true) { state throws(BrokerError) in
            (try state.push(jobs) { subscribers.isHeard($0, of: queue) }, state.effects.fullGroups)
        }
        guard let group = full.min(by: { $0.key < $1.key })?.value else { return receipts }
        throw BrokerError(
            fullGroup: group,
            of: queue,
            taken: receipts.enumerated().map { full[$0.offset] == nil ? $0.element : nil }
        )
    }

    /// Returns the broker's time in milliseconds since 1970 UTC.
    public func now(on queue: String) async throws(BrokerError) -> Int64 { clock() }
}

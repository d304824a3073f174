extension MemoryBroker {
    /// Adds runs to a queue's statistics; see ``WorkingBroker/record(_:on:)``.
    public func record(_ runs: [String: RunStatistics], on queue: String) async throws(BrokerError) {
        guard knownQueues.contains(queue) else { return }
        try withState(of: queue) { state throws(BrokerError) in
            state.statistics.record(runs, Self.sample(of: &state.queue, at: clock()))
        }
    }

    /// Returns a queue's statistics; see ``ConsoleBroker/statistics(of:_:from:to:withRuns:)``.
    public func statistics(
        of queue: String,
        _ resolution: StatisticsResolution,
        from: Int64,
        to: Int64,
        withRuns: Bool
    ) async throws(BrokerError) -> QueueStatistics {
        let wanted = try resolution.buckets(from: from, to: to)
        return try withState(of: queue) { state throws(BrokerError) in
            let present = Self.sample(of: &state.queue, at: clock())
            return state.statistics.statistics(resolution, wanted, withRuns: withRuns, present)
        }
    }

    /// Returns the runs of each operation since the queue was created; see ``ConsoleBroker/runTotals(of:)``.
    public func runTotals(of queue: String) async throws(BrokerError) -> [String: RunStatistics] {
        try withState(of: queue) { $0.statistics.runs }
    }

    private static func sample(of queue: inout MemoryQueue, at time: Int64) -> QueueStatistics.Sample {
        queue.beginTransition(at: time)
        defer { queue.endTransition() }
        return QueueStatistics.Sample(queue.status, at: time)
    }
}

public import Errand

extension RedisBroker {
    /// Adds runs to a queue's statistics; see ``WorkingBroker/record(_:on:)``.
    public func record(_ runs: [String: RunStatistics], on queue: String) async throws(BrokerError) {
        var rest = runs.sorted { $0.key < $1.key }[...]
        repeat {
            var call = ScriptCall(.record, on: queue)
            for (operation, statistics) in rest.prefix(QueueStatistics.mostOperations) {
                call.add(operation)
                call.add(statistics.cells)
            }
            rest = rest.dropFirst(QueueStatistics.mostOperations)
            _ = try await run(call)
        } while !rest.isEmpty
    }

    /// Returns a queue's statistics; see ``ConsoleBroker/statistics(of:_:from:to:withRuns:)``.
    public func statistics(
        of queue: String,
        _ resolution: StatisticsResolution,
        from: Int64,
        to: Int64,
        withRuns: Bool
    ) async throws(BrokerError) -> QueueStatistics {
        let buckets = try resolution.buckets(from: from, to: to)
        var call = ScriptCall(.statistics, on: queue)
        call.add(resolution.rawValue)
        call.add(buckets.lowerBound)
        call.add(buckets.upperBound)
        call.add(withRuns ? 1 : 0)
        guard let statistics = QueueStatistics(try await run(call), resolution) else {
            throw unexpected("statistics")
        }
        return statistics
    }

    /// Returns the runs of each operation; see ``ConsoleBroker/runTotals(of:)``.
    public func runTotals(of queue: String) async throws(BrokerError) -> [String: RunStatistics] {
        var call = ScriptCall(.statistics, on: queue)
        call.add("runs")
        guard let parts = try await run(call).elements else { throw unexpected("the runs of operations") }
        return stride(from: 0, to: parts.count - 1, by: 2).reduce(into: [:]) { totals, start in
            guard let operation = parts[start].text, let cells = parts[start + 1].text else { return }
            totals[operation] = RunStatistics(cells: cells)
        }
    }
}

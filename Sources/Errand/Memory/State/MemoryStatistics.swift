/// The statistics of a queue: the outcomes and durations of its runs, and samples of its counts, in buckets of several
/// lengths.
struct MemoryStatistics: Sendable {
    private struct Bucket {
        var sample: QueueStatistics.Sample?
        var runs: [String: RunStatistics] = [:]
    }

    /// The runs since the queue was created.
    private(set) var runs: [String: RunStatistics] = [:]
    private var buckets: [StatisticsResolution: [Int64: Bucket]] = [:]

    /// Adds runs to the present buckets, and a sample to those that have none.
    mutating func record(_ added: [String: RunStatistics], _ present: QueueStatistics.Sample) {
        var named: [(operation: String, statistics: RunStatistics)] = []
        for (operation, statistics) in added.sorted(by: { $0.key < $1.key }) {
            let name = admitted(operation)
            runs[name, default: RunStatistics()].merge(statistics)
            named.append((name, statistics))
        }
        for resolution in StatisticsResolution.allCases {
            let number = resolution.bucket(of: present.at)
            var bucket = buckets[resolution]?[number] ?? Bucket()
            for (operation, statistics) in named {
                bucket.runs[operation, default: RunStatistics()].merge(statistics)
            }
            bucket.sample = bucket.sample ?? present
            buckets[resolution, default: [:]][number] = bucket
            forget(resolution, before: number)
        }
    }

    /// Returns the operation, or the name for all others if there are too many.
    private func admitted(_ operation: String) -> String {
        let known = runs.count - (runs[QueueStatistics.otherOperations] == nil ? 0 : 1)
        if runs[operation] != nil || known < QueueStatistics.mostOperations { return operation }
        return QueueStatistics.otherOperations
    }

    /// Forgets buckets as Redis does: some together, so that a few are kept longer than they need to be.
    private mutating func forget(_ resolution: StatisticsResolution, before present: Int64) {
        let oldest = present - Int64(resolution.kept) - resolution.together
        if buckets[resolution]?.count ?? 0 > resolution.kept {
            buckets[resolution] = buckets[resolution]?.filter { $0.key >= oldest }
        }
    }

    func statistics(
        _ resolution: StatisticsResolution,
        _ wanted: ClosedRange<Int64>,
        withRuns: Bool,
        _ present: QueueStatistics.Sample
    ) -> QueueStatistics {
        let kept = (buckets[resolution] ?? [:]).filter { wanted.contains($0.key) }.sorted { $0.key < $1.key }
        let samples = kept.compactMap(\.value.sample)
        guard withRuns else { return QueueStatistics(samples: samples + [present]) }
        let runs = kept.flatMap { number, bucket in
            bucket.runs.sorted { $0.key < $1.key }.map { operation, statistics in
                QueueStatistics.Runs(from: number * resolution.step, operation: operation, statistics: statistics)
            }
        }
        return QueueStatistics(samples: samples + [present], runs: runs)
    }
}

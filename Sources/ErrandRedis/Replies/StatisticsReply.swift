package import Errand

extension QueueStatistics {
    /// Parses the statistics script's reply; `nil` if it is invalid. An entry that is invalid is left out.
    package init?(_ reply: RESPValue, _ resolution: StatisticsResolution) {
        guard let parts = reply.elements, parts.count == 3, let present = parts[0].text.flatMap({ Sample(text: $0) }),
            let samples = parts[1].elements, let runs = parts[2].elements
        else { return nil }
        let past = stride(from: 1, to: samples.count, by: 2).compactMap {
            samples[$0].text.flatMap { Sample(text: $0) }
        }
        let entries = stride(from: 0, to: runs.count - 2, by: 3).compactMap { start in
            Runs(runs[start...].prefix(3).map(\.text), resolution)
        }
        self.init(
            samples: past.sorted { $0.at < $1.at } + [present],
            runs: entries.sorted { ($0.from, $0.operation) < ($1.from, $1.operation) }
        )
    }
}

extension QueueStatistics.Runs {
    /// Makes the runs of a bucket's number, an operation and its cells.
    fileprivate init?(_ parts: [String?], _ resolution: StatisticsResolution) {
        guard parts.count == 3, let bucket = parts[0].flatMap({ Int64($0) }), let operation = parts[1],
            let cells = parts[2]
        else { return nil }
        let (from, overflows) = bucket.multipliedReportingOverflow(by: resolution.step)
        guard !overflows else { return nil }
        self.init(from: from, operation: operation, statistics: RunStatistics(cells: cells))
    }
}

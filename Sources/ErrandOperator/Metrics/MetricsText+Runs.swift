import Errand

/// The runs of operations, with their durations as histograms.
extension MetricsText {
    /// The upper limits of buckets in milliseconds: 1 ms to 17 min in steps of four, so that an operation has few series.
    private static let limits = (0...10).map { Double(1 << (2 * $0)) }

    mutating func write(_ runs: [OperationTimes]) {
        writer.family(
            "errand_runs_total",
            "counter",
            "Runs of operations by outcome, reported by workers; the operation * stands for those beyond the first fifty.",
            runs.flatMap { row in
                Self.outcomes(of: row.statistics).map { outcome, count in
                    Sample(Self.labels(of: row) + [("outcome", outcome)], Double(count))
                }
            }
        )
        write("errand_wait_seconds", "How long jobs were ready before a run began.", runs, \.waiting)
        write("errand_run_seconds", "How long runs took.", runs, \.running)
    }

    private static func outcomes(of runs: RunStatistics) -> [(String, Int)] {
        [
            ("finished", runs.finished), ("failed", runs.failed), ("timed_out", runs.timedOut),
            ("cancelled", runs.cancelled),
        ]
    }

    private static func labels(of row: OperationTimes) -> [(String, String)] {
        [("queue", row.queue), ("operation", row.operation ?? "")]
    }

    private mutating func write(
        _ name: String,
        _ help: String,
        _ runs: [OperationTimes],
        _ histogram: (RunStatistics) -> DurationHistogram
    ) {
        let samples = runs.flatMap { row in
            let (durations, labels) = (histogram(row.statistics), Self.labels(of: row))
            let buckets = Self.limits.map { limit in
                let label = PrometheusText.number(limit / 1000)
                return Sample(labels + [("le", label)], Double(durations.count(below: limit)), suffix: "_bucket")
            }
            let count = Double(durations.count)
            return buckets + [
                Sample(labels + [("le", "+Inf")], count, suffix: "_bucket"),
                Sample(labels, Double(durations.totalMilliseconds) / 1000, suffix: "_sum"),
                Sample(labels, count, suffix: "_count"),
            ]
        }
        writer.family(name, "histogram", help, samples)
    }
}

package import Errand
import ErrandText
import Foundation

/// How often an operation of a queue ran in a period, and how long its jobs waited and ran: a row of a table.
package struct OperationTimes: Sendable {
    /// The queue.
    package let queue: String
    /// The operation; `nil` for all operations of the queue.
    package let operation: String?
    /// The outcomes and durations.
    package let statistics: RunStatistics

    /// The shares of the percentiles that tables show, with their names.
    package static let shares: [(name: String, share: Double)] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)]

    /// Makes a row.
    package init(queue: String, operation: String?, statistics: RunStatistics) {
        (self.queue, self.operation, self.statistics) = (queue, operation, statistics)
    }

    /// Makes a row for each operation of a queue, those with the most runs first.
    package static func rows(of queue: String, _ statistics: QueueStatistics) -> [Self] {
        statistics.byOperation.map { Self(queue: queue, operation: $0.key, statistics: $0.value) }.sorted()
    }

    /// Makes a row for all operations of a queue together; `nil` if none has run.
    package static func total(of queue: String, _ statistics: QueueStatistics) -> Self? {
        let all = statistics.all
        return all.runs > 0 ? Self(queue: queue, operation: nil, statistics: all) : nil
    }

    /// The percentiles of a histogram for people; a dash without durations.
    package static func percentiles(_ histogram: DurationHistogram) -> [String] {
        shares.map { histogram.percentile($0.share).map(text) ?? "–" }
    }

    private static func text(_ milliseconds: Double) -> String {
        if milliseconds < 1 { return "<1 ms" }
        // Two digits are as many as buckets can give.
        let unit = pow(10, (log10(milliseconds)).rounded(.down) - 1)
        return TimeSpanText.rounded(
            Int64(clamping: Int(exactly: ((milliseconds / unit).rounded() * unit).rounded()) ?? 0)
        )
    }
}

extension OperationTimes: Comparable {
    /// Orders rows by their runs, the most first, and then by name.
    package static func < (left: Self, right: Self) -> Bool {
        (right.statistics.runs, left.queue, left.operation ?? "") < (
            left.statistics.runs, right.queue, right.operation ?? ""
        )
    }
}

extension OperationTimes {
    /// The row as JSON for programs.
    package var json: JSONOutput {
        .object([
            ("queue", .text(queue)), ("operation", .text(orNull: operation)), ("finished", .count(statistics.finished)),
            ("failed", .count(statistics.failed)), ("timed_out", .count(statistics.timedOut)),
            ("cancelled", .count(statistics.cancelled)), ("dead", .count(statistics.dead)),
            ("wait_ms", Self.json(statistics.waiting)), ("run_ms", Self.json(statistics.running)),
        ])
    }

    private static func json(_ histogram: DurationHistogram) -> JSONOutput {
        let mean =
            histogram.count > 0
            ? JSONOutput.decimal(Double(histogram.totalMilliseconds) / Double(histogram.count)) : .null
        let percentiles = shares.map { share in
            (key: share.name, value: histogram.percentile(share.share).map(JSONOutput.decimal) ?? .null)
        }
        return .object(percentiles + [(key: "mean", value: mean)])
    }
}

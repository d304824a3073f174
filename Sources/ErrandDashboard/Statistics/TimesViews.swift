import Errand
import ErrandOperator

/// The values for the tables of how long jobs waited and ran, and for the choice of a period.
enum TimesViews {
    static let mostRows = 50

    /// A table's rows.
    static func rows(_ rows: [OperationTimes]) -> [[String: Any]] {
        rows.prefix(mostRows).map { row in
            let (counts, runs) = (row.statistics, row.statistics.runs)
            let failed = counts.failed.addingReportingOverflow(counts.timedOut).partialValue
            return [
                "queue": row.queue, "operation": row.operation ?? "", "runs": runs.grouped,
                "failed": failed == 0 ? "0" : share(failed, of: runs), "isFailing": failed > 0,
                "dead": counts.dead.grouped, "isDead": counts.dead > 0,
                "times": cells("waited", counts.waiting) + cells("ran", counts.running),
            ]
        }
    }

    private static func cells(_ what: String, _ durations: DurationHistogram) -> [[String: Any]] {
        zip(OperationTimes.shares, OperationTimes.percentiles(durations)).map { share, time in
            ["label": "\(what) \(share.name)", "time": time]
        }
    }

    private static func share(_ part: Int, of all: Int) -> String {
        let percent = Double(part) / Double(max(1, all)) * 100
        return percent < 0.1 ? "<0.1 %" : "\(percent.rateText) %"
    }

    /// The links to the other periods.
    static func periods(_ chosen: StatisticsPeriod) -> [[String: Any]] {
        StatisticsPeriod.allCases.map { ["name": $0.words, "value": $0.rawValue, "isChosen": $0 == chosen] }
    }
}

extension PageRequest {
    /// The period that the page shows.
    ///
    /// - Throws: `PageProblem` for one that does not exist.
    func period() throws -> StatisticsPeriod {
        guard let text = query["period"] else { return .hour }
        guard let period = StatisticsPeriod(rawValue: text) else {
            throw PageProblem.bad("the period must be 15m, 1h, 24h or 7d")
        }
        return period
    }
}

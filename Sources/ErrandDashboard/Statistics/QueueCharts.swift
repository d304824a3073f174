import Errand
import ErrandOperator

/// The charts of one queue, or of all queues together.
struct QueueCharts {
    let series: StatisticsSeries
    /// The present rates, as the rest of the page shows them.
    let rates: Rates
    /// The present counts.
    let queues: [QueueStatus]

    /// The figures for the template.
    var all: [[String: Any]] {
        [throughput, backlog, latency, failures].map { ["svg": $0.svg] }
    }

    private var throughput: Chart {
        chart(
            "Throughput",
            "/s",
            [line("pushed", \.pushed, now: rates.pushed), line("finished", \.finished, now: rates.finished)]
        )
    }

    private var backlog: Chart {
        let later = queues.reduce(0.0) { $0 + Double($1.scheduled) + Double($1.retrying) }
        return chart(
            "Backlog (jobs)",
            "",
            [
                line("waiting", \.ready, now: queues.reduce(0.0) { $0 + Double($1.ready) }),
                line("later", \.later, now: later),
            ]
        )
    }

    private var latency: Chart {
        let oldest = queues.map { Double($0.oldestReadyMilliseconds) / 1000 }.max() ?? 0
        return chart("Longest wait of a ready job", " s", [line("waiting", \.oldest, now: oldest)])
    }

    private var failures: Chart {
        chart("Failures", "/s", [line("failed", \.failed, now: rates.failed)])
    }

    private func chart(_ title: String, _ unit: String, _ lines: [Chart.Line]) -> Chart {
        Chart(title: title, unit: unit, lines: lines, from: series.from, step: series.step)
    }

    private func line(_ name: String, _ value: (StatisticsSeries.Point) -> Double, now: Double) -> Chart.Line {
        // The last point is the present, as the legend says.
        let values = series.points.dropLast().map { $0.map(value) } + [now]
        return Chart.Line(name: name, style: name, values: values, now: now)
    }
}

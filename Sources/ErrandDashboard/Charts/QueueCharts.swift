import Errand
import ErrandOperator

/// The charts of one queue, or of all queues together.
struct QueueCharts {
    private let history: [Sampler.Sample]
    private let queue: String?

    init(_ history: [Sampler.Sample], of queue: String? = nil) {
        // A chart is 300 points wide, so more samples would be sent in vain.
        self.history = Self.thinned(history, by: max(1, history.count / 300))
        self.queue = queue
    }

    /// Keeps the last of every `step` samples, or a gap among them, so that no line is drawn over the gap.
    private static func thinned(_ history: [Sampler.Sample], by step: Int) -> [Sampler.Sample] {
        stride(from: max(0, history.count - 1) % step, to: history.count, by: step).map { end in
            history[max(0, end - step + 1)...end].last { $0.queues == nil } ?? history[end]
        }
    }

    var all: [[String: Any]] {
        [throughput, backlog, latency, failures].map { ["svg": $0.svg] }
    }

    private var throughput: Chart {
        chart("Throughput", "/s", [line("pushed", rate(\.pushed)), line("finished", rate(\.finished))])
    }

    private var backlog: Chart {
        chart(
            "Backlog",
            "",
            [
                line("ready", states.map { $0.map { sum($0, \.ready) } }),
                line("later", states.map { $0.map { sum($0, \.later) } }),
            ]
        )
    }

    private var latency: Chart {
        let oldest = states.map { $0?.map { Double($0.oldestReadyMilliseconds) / 1000 }.max() }
        return chart("Latency (oldest ready job)", " s", [line("waiting", oldest)])
    }

    private var failures: Chart {
        chart("Failures", "/s", [line("failed", rate(\.failed))])
    }

    private func chart(_ title: String, _ unit: String, _ lines: [Chart.Line]) -> Chart {
        let now = ContinuousClock.now
        return Chart(title: title, unit: unit, lines: lines, from: history.first?.at ?? now, to: now)
    }

    /// - Parameter values: The values of the last samples. Rates take two samples, so they have no value for the first.
    private func line(_ name: String, _ values: [Double?]) -> Chart.Line {
        let times = history.suffix(values.count).map(\.at)
        return Chart.Line(name: name, points: zip(times, values).map { Chart.Point(at: $0, value: $1) })
    }

    /// The queues of the chart, sample by sample; `nil` for a gap.
    private var states: [[Sampler.Point]?] {
        history.map { sample in
            guard let queues = sample.queues else { return nil }
            guard let queue else { return Array(queues.values) }
            return queues[queue].map { [$0] }
        }
    }

    private func sum(_ queues: [Sampler.Point], _ count: (Sampler.Point) -> Int) -> Double {
        Double(queues.reduce(0) { $0.addingReportingOverflow(count($1)).partialValue })
    }

    private func rate(_ rate: (Rates) -> Double) -> [Double?] {
        zip(history, history.dropFirst()).map { old, new in
            guard let past = old.queues, let present = new.queues else { return nil }
            let names = queue.map { [$0] } ?? Array(present.keys)
            return names.reduce(0.0) { sum, name in
                guard let before = past[name], let after = present[name] else { return sum }
                return sum + rate(Rates(from: before.totals, to: after.totals, in: new.at - old.at))
            }
        }
    }
}

import Errand
import ErrandOperator

/// The charts of one queue, or of all together.
struct QueueCharts {
    private let history: [Sampler.Sample]
    private let queue: String?

    init(_ history: [Sampler.Sample], of queue: String? = nil) {
        // A chart is 300 points wide; more samples than that would only be sent.
        let step = max(1, history.count / 300)
        self.history = history.enumerated().filter { (history.count - 1 - $0.offset) % step == 0 }.map(\.element)
        self.queue = queue
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
        return chart("Latency (oldest in line)", " s", [line("waiting", oldest)])
    }

    private var failures: Chart {
        chart("Failures", "/s", [line("failed", rate(\.failed))])
    }

    private func chart(_ title: String, _ unit: String, _ lines: [Chart.Line]) -> Chart {
        let span = history.first.map { .now - $0.at } ?? Duration.zero
        return Chart(title: title, unit: unit, lines: lines, span: span)
    }

    private func line(_ name: String, _ values: [Double?]) -> Chart.Line { Chart.Line(name: name, values: values) }

    /// The queues that are meant, sample by sample.
    private var states: [[Sampler.Point]?] {
        history.map { sample in
            guard let queue else { return Array(sample.queues.values) }
            return sample.queues[queue].map { [$0] }
        }
    }

    private func sum(_ queues: [Sampler.Point], _ count: (Sampler.Point) -> Int) -> Double {
        Double(queues.reduce(0) { $0.addingReportingOverflow(count($1)).partialValue })
    }

    private func rate(_ rate: (Rates) -> Double) -> [Double?] {
        zip(history, history.dropFirst()).map { old, new in
            let names = queue.map { [$0] } ?? Array(new.queues.keys)
            return names.reduce(0.0) { sum, name in
                guard let before = old.queues[name], let after = new.queues[name] else { return sum }
                return sum + rate(Rates(from: before.totals, to: after.totals, in: new.at - old.at))
            }
        }
    }
}

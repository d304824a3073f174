import Errand
import ErrandCommandLine
import ErrandOperator
import Foundation
import Metrics
import TestSupport
import Testing

/// Prometheus' alerts and Grafana's graphs in `deploy`.
@Suite struct DeploymentMetricsTests {
    private static let alerts = "deploy/prometheus/alerts.yaml"
    private static let alertCases = "deploy/prometheus/alerts_test.yaml"
    private static let graphs = "deploy/grafana/errand.json"

    /// Every metric of the dashboard.
    private var metrics: Set<String> {
        let lines = MetricsText.text(of: Overview()).split(separator: "\n")
        return Set(
            lines.filter { $0.hasPrefix("# TYPE ") }.compactMap {
                $0.split(separator: " ").dropFirst(2).first.map(String.init)
            }
        )
    }

    private func metrics(in text: String) -> Set<String> {
        Set(text.matches(of: /errand_[a-z_]+/).map { String($0.output) })
    }

    @Test(arguments: [alerts, alertCases, graphs])
    func namesOnlyMetricsThatExist(_ path: String) throws {
        let used = metrics(in: try DeploymentFiles.text(path))
        #expect(!used.isEmpty)
        #expect(used.subtracting(metrics) == [])
    }

    @Test(arguments: [alerts, alertCases, graphs])
    func namesOnlyEventsAndStatesThatExist(_ path: String) throws {
        let text = try DeploymentFiles.text(path).replacing("\\\"", with: "\"")
        for match in text.matches(of: /event=~?"([a-z_|]+)"/) {
            for event in match.1.split(separator: "|") { #expect(QueueStatus.Totals.names.contains(String(event))) }
        }
        for match in text.matches(of: /state=~?"([a-z_|]+)"/) {
            for state in match.1.split(separator: "|") { #expect(JobState(rawValue: String(state)) != nil) }
        }
    }

    /// The metrics file of a worker.
    private static var workerMetrics: String {
        let registry = MetricsRegistry(labels: [("worker", "a \"b\"\\")])
        Metrics.Counter(label: "errand.jobs", dimensions: [("name", "n"), ("queue", "q")], factory: registry).increment(
            by: 3
        )
        Metrics.Timer(label: "errand.jobs.duration", dimensions: [("name", "n")], factory: registry).recordSeconds(2)
        Meter(label: "errand.jobs.processing", dimensions: [("name", "n")], factory: registry).set(1)
        Gauge(label: "1 odd.level", dimensions: [("a-b", "c\nd")], factory: registry).record(0.5)
        Recorder(label: "errand.sizes", dimensions: [], aggregate: true, factory: registry).record(70)
        return registry.text
    }

    private static var hasPromtool: Bool { DeploymentFiles.isInstalled("promtool") }

    @Test(.enabled(if: hasPromtool)) func promtoolTakesTheMetrics() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","queue":"images"}"#)
        let check = ["promtool", "check", "metrics"]
        let metrics = try DeploymentFiles.run(check, input: try await scene.ask("/metrics").text)
        #expect(metrics.status == 0 && metrics.text.isEmpty, "\(metrics.text)")
        let own = try DeploymentFiles.run(check, input: Self.workerMetrics)
        #expect(own.status == 0 && own.text.isEmpty, "\(own.text)")
    }

    @Test(.enabled(if: hasPromtool)) func theAlertsHaveTheirTexts() throws {
        let rules = try DeploymentFiles.run(["promtool", "check", "rules", DeploymentFiles.path(Self.alerts)])
        #expect(rules.status == 0, "\(rules.text)")
        let cases = try DeploymentFiles.run(["promtool", "test", "rules", DeploymentFiles.path(Self.alertCases)])
        #expect(cases.status == 0, "\(cases.text)")
    }

    @Test func theDocumentationNamesEveryAlert() throws {
        let alerts = try DeploymentFiles.text(Self.alerts).matches(of: /alert: (\w+)/).map { String($0.output.1) }
        let documentation = try DeploymentFiles.text("docs/operating.md")
        #expect(!alerts.isEmpty)
        #expect(alerts.filter { !documentation.contains("| `\($0)` |") } == [])
    }

    /// The graphs' queries to Prometheus, with values for Grafana's variables.
    private func expressions() throws -> [String] {
        let board = try JSON(text: try DeploymentFiles.text(Self.graphs))
        #expect(board["title"] == "Errand")
        let targets = (board["panels"]?.items ?? []).flatMap { $0["targets"]?.items ?? [] }
        return targets.map { target in
            let expression = target["expr"]?.string ?? ""
            return expression.replacing("$__rate_interval", with: "1m").replacing("$queue", with: "default")
        }
    }

    /// The result of promtool for rules that record these.
    private func verdict(on expressions: [String]) throws -> (status: Int32, text: String) {
        let rules = expressions.enumerated().map { ["record": "graph:\($0)", "expr": $1] }
        let groups: [[String: Any]] = [["name": "graphs", "rules": rules]]
        let file = try JSONSerialization.data(withJSONObject: ["groups": groups], options: .withoutEscapingSlashes)
        let place = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString).yaml")
        try file.write(to: place)
        defer { try? FileManager.default.removeItem(at: place) }
        return try DeploymentFiles.run(["promtool", "check", "rules", place.path])
    }

    @Test(.enabled(if: hasPromtool)) func promtoolTakesTheGraphs() throws {
        let expressions = try expressions()
        #expect(expressions.count > 10)
        #expect(expressions.filter { $0.isEmpty || $0.contains("$") } == [])
        let verdict = try verdict(on: expressions)
        #expect(verdict.status == 0, "\(verdict.text)")
        for wrong in ["sum(errand_jobs", "rate(errand_events_total)", "sum by queue (errand_jobs)"] {
            #expect(try self.verdict(on: [wrong]).status != 0, "\(wrong)")
        }
    }
}

import ErrandDashboard
import TestSupport
import Testing

/// The dashboard's charts for times without samples.
@Suite struct DashboardChartTests {
    /// The lines of a chart as lists of points.
    private func lines(of chart: String, _ page: String) throws -> [Substring] {
        let figure = try #require(page.firstRange(of: "<span>\(chart)</span>"), "\(page)")
        let path = try #require(page[figure.upperBound...].firstMatch(of: /class="first" d="([^"]*)"/)).1
        return path.split(separator: "M")
    }

    private func show(_ dashboard: ErrandDashboard) async throws -> String {
        try await DashboardScene.ask(dashboard, "/").text
    }

    @Test(.timeLimit(.minutes(3))) func chartsHaveGapsForTimesWithoutSamples() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"one","queue":"images"}"#)
        let dashboard = ErrandDashboard(broker: scene.desk.broker) { _ in .acting(as: "Ada") }
        try await until("there is a line") {
            try lines(of: "Backlog", try await show(dashboard)).first?.contains("L") == true
        }
        try scene.server.run("ACL", "SETUSER", "errand", "-smembers")
        // Only the dashboard polls the queues here.
        try await until("it has looked in vain") { try scene.server.run("ACL", "LOG").contains("smembers") }
        try scene.server.run("ACL", "SETUSER", "errand", "+smembers")
        try await until("there are two lines") { try lines(of: "Backlog", try await show(dashboard)).count == 2 }
        // Rates need two samples and are empty until then.
        try await until("there are two lines of rates") {
            try lines(of: "Throughput", try await show(dashboard)).count == 2
        }
    }
}

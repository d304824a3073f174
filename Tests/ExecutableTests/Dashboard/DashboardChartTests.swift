import ErrandDashboard
import TestSupport
import Testing

/// What the dashboard's charts show of a time at which nobody could look.
@Suite struct DashboardChartTests {
    /// The lines of a chart, each as the points that are joined.
    private func lines(of chart: String, _ page: String) throws -> [Substring] {
        let figure = try #require(page.firstRange(of: "<span>\(chart)</span>"), "\(page)")
        let path = try #require(page[figure.upperBound...].firstMatch(of: /class="first" d="([^"]*)"/)).1
        return path.split(separator: "M")
    }

    private func show(_ dashboard: ErrandDashboard) async throws -> String {
        try await DashboardScene.ask(dashboard, "/").text
    }

    @Test(.timeLimit(.minutes(3))) func noLineGoesOverATimeThatNobodyLookedAt() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"one","queue":"images"}"#)
        let dashboard = ErrandDashboard(broker: scene.desk.broker) { _ in .acting(as: "Ada") }
        try await until("there is a line") {
            try lines(of: "Backlog", try await show(dashboard)).first?.contains("L") == true
        }
        try scene.server.run("ACL", "SETUSER", "errand", "-smembers")
        // Nobody but the dashboard asks for the queues here, and it looks by itself.
        try await until("it has looked in vain") { try scene.server.run("ACL", "LOG").contains("smembers") }
        try scene.server.run("ACL", "SETUSER", "errand", "+smembers")
        try await until("there are two lines") { try lines(of: "Backlog", try await show(dashboard)).count == 2 }
        // What is counted from one time to the next is known a moment later; until then nothing is said.
        try await until("there are two lines of rates") {
            try lines(of: "Throughput", try await show(dashboard)).count == 2
        }
    }
}

import ErrandDashboard
import HTTPTypes
import Hummingbird
import TestSupport
import Testing

/// A dashboard in a group of an application's routes.
@Suite struct DashboardGroupTests {
    private static let pages = [
        "", "/", "/jobs", "/queues/images", "/queues/images/groups", "/queues/images/jobs/one", "/workflows",
        "/schedules", "/events",
    ]

    private func dashboard(_ scene: DashboardScene) -> ErrandDashboard {
        ErrandDashboard(broker: scene.desk.broker) { _ in .acting(as: "Ada") }
    }

    @Test(arguments: [
        ("", "/errand", "/errand"), ("/admin", "/admin/errand", "/admin/errand"),
        ("/teams/:team", "/teams/blue/errand", "/teams/blue/errand"),
        // Two leading slashes would make a link to another host.
        ("/:team", "//blue.example//errand", "/blue.example/errand"),
    ])
    func everyLinkBeginsWithTheGroupsPath(_ group: String, _ place: String, _ base: String) async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"one","queue":"images"}"#)
        let dashboard = dashboard(scene)
        for path in Self.pages + ["/runs/1"] {
            let page = try await DashboardScene.ask(dashboard, path, in: RouterPath(group), at: place)
            #expect(page.status == (path == "/runs/1" ? 404 : 200), "\(path)")
            let links = page.text.matches(of: /(href|src|action|data-stream|data-base)="(\/[^"]*)"/).map { $0.output.2 }
            #expect(links.count > 8)
            #expect(links.allSatisfy { $0 == base || $0.hasPrefix(base + "/") }, "\(path): \(links)")
        }
        let jobs = try await DashboardScene.ask(dashboard, "/jobs", in: RouterPath(group), at: place)
        #expect(jobs.text.contains(#"<a href="\#(base)/jobs" aria-current="page">"#))
        let style = try await DashboardScene.ask(dashboard, "/assets/errand.css", in: RouterPath(group), at: place)
        #expect(style.status == 200)
    }

    @Test func anActionLeadsBackIntoTheGroup() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"one","queue":"images"}"#)
        let path = "/queues/images/pause"
        let dashboard = dashboard(scene)
        let paused = try await DashboardScene.ask(dashboard, path, [], in: "/admin", at: "/admin/errand")
        #expect(paused.status == 303)
        #expect(paused.headers[.location]?.hasPrefix("/admin/errand/queues/images?notice=") == true)
        let foreign = HTTPFields()
        _ = try await DashboardScene.ask(dashboard, path, [], foreign, in: "/admin", at: "/admin/errand")
        let log = try await DashboardScene.ask(dashboard, "/actions", in: "/admin", at: "/admin/errand")
        #expect(log.text.contains("refused</td><td data-label=\"with\" class=\"text\">\(path)</td>"), "\(log.text)")
    }
}

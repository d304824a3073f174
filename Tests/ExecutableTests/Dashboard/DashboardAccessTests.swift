import Errand
import ErrandDashboard
import ErrandRedis
import HTTPTypes
import TestSupport
import Testing

/// Users, permissions and origins.
@Suite struct DashboardAccessTests {
    /// Every request that changes something.
    static let changes: [(String, [(String, String)])] = [
        ("/queues/images/pause", []), ("/queues/images/resume", []), ("/queues/images/clear", []),
        ("/queues/images/jobs/dead/retry", []), ("/queues/images/jobs/waiting/cancel", []),
        ("/queues/images/jobs/dead/delete", []),
        ("/queues/images/jobs/dead/edit", [("description", #"{"operation":"work","queue":"images"}"#)]),
        ("/queues/images/jobs/dead/copy", [("description", #"{"operation":"work","queue":"images"}"#)]),
        ("/push", [("operation", "work"), ("queue", "images")]),
        ("/jobs/act", [("action", "delete"), ("scope", "selected"), ("job", "images:dead"), ("confirmed", "yes")]),
        ("/jobs/act", [("action", "delete"), ("scope", "matching"), ("confirmed", "yes")]),
        ("/schedules/pause", [("queue", "images"), ("name", "s")]),
        ("/schedules/run", [("queue", "images"), ("name", "s")]),
        ("/queues/images/rules/save", [("pattern", "tenant-*"), ("at_once", "4")]),
        ("/queues/images/rules/delete", [("pattern", "tenant-7")]),
    ]

    /// These, and those that need a running action, which `DashboardRunTests` covers.
    static let posts = changes + [("/runs/none/stop", [])]

    /// Requests that the dashboard's own pages never send.
    static let foreign: [(String, HTTPFields)] = [
        ("without a word of where it is from", [:]), ("from another page", [.origin: "http://evil.example"]),
        ("from the same host on another port", [.origin: "http://localhost:81"]), ("from nowhere", [.origin: "null"]),
        ("cross-site", [.origin: "http://localhost", DashboardAccessTests.site: "cross-site"]),
        ("same-site", [.origin: "http://localhost", DashboardAccessTests.site: "same-site"]),
        ("typed in", [DashboardAccessTests.site: "none"]),
        ("from a host that begins alike", [.origin: "http://localhost.evil.example"]),
    ]

    static let site = HTTPField.Name("Sec-Fetch-Site") ?? .origin

    private func scene() async throws -> DashboardScene {
        let scene = try await DashboardScene()
        try await scene.push(
            #"{"operation":"work","id":"dead","queue":"images"}"#,
            #"{"operation":"work","id":"waiting","queue":"images"}"#
        )
        try await scene.desk.work(.failed, error: "x", queue: "images")
        let definition = ["schedule", "add", "s", "work", "--every", "1d", "--queue", "images"]
        let output = try await Executable.console.run(definition, on: scene.server)
        #expect(output.status == 0, "\(output.error)")
        try await scene.desk.broker.setFlow("images", matching: "tenant-7", FlowRule(atOnce: 20))
        return scene
    }

    private func state(_ scene: DashboardScene) async throws -> [String] {
        let status = try await scene.desk.broker.status(of: "images").queue
        let schedule = try await scene.desk.broker.schedule("s", on: "images")
        return [
            "\(status.ready) \(status.dead) \(status.isPaused) \(status.totals["pushed"])",
            "\(schedule?.isPaused ?? false) \(schedule?.pushed ?? 0)",
            try await scene.desk.broker.flow(of: "images").map(\.pattern).joined(separator: " "),
        ]
    }

    @Test func nothingForeignChangesAnything() async throws {
        let scene = try await scene()
        let before = try await state(scene)
        for (path, form) in Self.posts {
            for (what, headers) in Self.foreign {
                #expect(try await scene.ask(path, form, headers: headers).status == 403, "\(path) \(what)")
            }
            #expect(try await scene.ask(path, form, as: .reading(as: "Bo")).status == 403, "\(path) as a reader")
            #expect(try await scene.ask(path, form, as: .none).status == 403, "\(path) as nobody")
            let stranger = DashboardAccess.none(challenge: "Basic")
            #expect(try await scene.ask(path, form, as: stranger).status == 401, "\(path) as a stranger")
        }
        #expect(try await state(scene) == before)
        let known = scene.log.lines.filter { $0.contains("user=Ada") || $0.contains("user=Bo") }
        #expect(known.count == Self.posts.count * (Self.foreign.count + 1), "who is known leaves a trace")
        #expect(scene.log.lines.allSatisfy { $0.contains("action=refused") } && known.count == scene.log.lines.count)
    }

    @Test func everyChangeWorksFromTheDashboardItself() async throws {
        for (path, form) in Self.changes {
            let scene = try await scene()
            let before = try await state(scene)
            let answer = try await scene.ask(
                path,
                form,
                headers: [.origin: "http://localhost", Self.site: "same-origin"]
            )
            #expect(answer.status == 303, "\(path): \(answer.text)")
            if path.hasSuffix("resume") { continue }
            try await until("\(path) shows") { try await state(scene) != before }
            try await until("\(path) is logged") { scene.log.lines.contains { !$0.contains("outcome=begun") } }
            #expect(scene.log.lines.allSatisfy { $0.contains("user=Ada") && !$0.contains("action=refused") })
        }
    }

    @Test func behindAProxyTheOriginOfTheBrowserIsTrusted() async throws {
        let scene = try await scene()
        let answer = try await scene.ask(
            "/queues/images/pause",
            [],
            headers: [.origin: "https://queues.example", Self.site: "same-origin"]
        )
        #expect(answer.status == 303, "\(answer.text)")
    }

    @Test(arguments: [
        "/", "/jobs", "/queues/images", "/metrics", "/scale?queue=images", "/events/stream", "/find?id=dead",
    ])
    func usersWithoutAccessSeeNothing(_ path: String) async throws {
        let scene = try await scene()
        let answer = try await scene.ask(path, as: .none)
        #expect(answer.status == 403)
        #expect(!answer.text.contains("images"))
        let challenged = try await scene.ask(path, as: .none(challenge: "Basic realm=x"))
        #expect(challenged.status == 401)
        #expect(challenged.headers[.wwwAuthenticate] == "Basic realm=x")
    }

    @Test func readersSeeNoButtons() async throws {
        let scene = try await scene()
        for path in ["/jobs", "/queues/images", "/queues/images/jobs/dead?arguments=show", "/schedules"] {
            let page = try await scene.ask(path, as: .reading(as: "Bo"))
            #expect(page.status == 200)
            #expect(!page.text.contains(#"method="post""#), "\(path)")
        }
    }

    @Test(arguments: [
        ("localhost:8080", true), ("127.0.0.1:8080", true), ("[::1]:8080", true), ("localhost", true),
        ("queue.example", true), ("evil.example", false), ("localhost.evil.example", false),
        ("127.0.0.1.evil.example", false),
    ])
    func otherHostNamesAreRejected(_ host: String, _ isAnswered: Bool) async throws {
        #expect(HostRule.loopback(and: ["queue.example"]).admits(host) == isAnswered)
        #expect(HostRule.any.admits(host))
        #expect(!HostRule.loopback(and: []).admits(nil))
    }
}

import Errand
import ErrandDashboard
import ErrandRedis
import HTTPTypes
import Hummingbird
import Logging
import TestSupport
import Testing

/// Running actions on many jobs are listed and can be stopped.
@Suite struct DashboardRunTests {
    private let scene: DashboardScene
    /// A proxy between the dashboard and the broker that delays an action.
    private let proxy: ChaosProxy
    private let broker: RedisBroker
    private let dashboard: ErrandDashboard

    init() async throws {
        scene = try await DashboardScene()
        proxy = try ChaosProxy(to: scene.server)
        let options = ConnectionOptions(commandTimeout: .seconds(120))
        broker = RedisBroker(try RedisAddress(url: proxy.url), options: options, logger: Logger(label: "run"))
        let log = scene.log
        let logger = Logger(label: "dashboard") { _ in log.handler }
        dashboard = ErrandDashboard(broker: broker, logger: logger) { request in
            request.uri.query == "as=reader" ? .reading(as: "Bo") : .acting(as: "Ada")
        }
        proxy.treat { $0.contains("$6\r\ncancel\r\n") ? .hold : .pass }
    }

    private func close() {
        broker.close()
        proxy.close()
    }

    private func push(_ count: Int) async throws {
        let lines = (0..<count).map { #"{"operation":"work","id":"j\#($0)","queue":"images"}"# }
        try await scene.push(lines.joined(separator: "\n"))
    }

    private func page(_ path: String) async throws -> String {
        try await DashboardScene.ask(dashboard, path).text
    }

    /// Starts an action and returns the path of its page.
    private func begin(_ form: [(String, String)]) async throws -> String {
        let answer = try await DashboardScene.ask(dashboard, "/jobs/act", form + [("confirmed", "yes")])
        #expect(answer.status == 303, "\(answer.text)")
        return String(try #require(answer.headers[.location]).dropFirst("/errand".count))
    }

    private func cancelOne(_ number: Int) -> [(String, String)] {
        [("action", "cancel"), ("scope", "selected"), ("job", "images:j\(number)")]
    }

    @Test func stopsAfterTheCurrentPortion() async throws {
        defer { close() }
        try await push(1200)
        let form = [("action", "cancel"), ("scope", "matching"), ("queue", "images"), ("state", "ready")]
        let run = try await begin(form)
        try await until("it is at its first portion") { proxy.heldRequests > 0 }
        let going = try await page(run)
        #expect(going.contains("<p>0 of 1,200.</p>") && going.contains(#"action="/errand\#(run)/stop""#))
        let listed = try await page("/actions")
        #expect(listed.contains(#"<a href="/errand\#(run)">cancel</a>"#) && listed.contains("0 of 1,200."))
        try await stop(run)
        proxy.release()
        try await until("it has stopped") {
            try await page(run).contains("<p>Stopped as asked: 500 of 1,200 done.</p>")
        }
        #expect(try await scene.desk.broker.status(of: "images").queue.ready == 700)
        #expect(try await !page(run).contains("/stop"), "an ended action cannot be stopped")
        #expect(scene.log.lines.contains { $0.contains("outcome=stopped as asked: 500 done, 0 not, of 1200") })
    }

    /// Only users that may act can stop it.
    private func stop(_ run: String) async throws {
        let strange: HTTPFields = [.origin: "http://evil.example"]
        #expect(try await DashboardScene.ask(dashboard, run + "/stop", [], strange).status == 403)
        #expect(try await DashboardScene.ask(dashboard, run + "/stop?as=reader", []).status == 403)
        #expect(try await !page(run + "?as=reader").contains("/stop"))
        #expect(try await page(run).contains("<p>0 of 1,200.</p>"))
        #expect(try await DashboardScene.ask(dashboard, run + "/stop", []).status == 303)
        #expect(try await page(run).contains("Stopping after this portion"))
        #expect(scene.log.lines.contains { $0.contains("action=stop outcome=told to stop target=cancel all jobs") })
    }

    @Test func anEndedActionIsNotStopped() async throws {
        defer { close() }
        try await push(1)
        proxy.treat { _ in .pass }
        let run = try await begin(cancelOne(0))
        try await until("it is done") { try await page(run).contains("Done: 1 job.") }
        #expect(try await DashboardScene.ask(dashboard, run + "/stop", []).status == 303)
        #expect(try await page(run).contains("Done: 1 job."))
        #expect(try await DashboardScene.ask(dashboard, "/runs/none/stop", []).status == 404)
    }

    @Test func runningActionsAreNeverForgotten() async throws {
        defer { close() }
        try await push(52)
        var runs: [String] = []
        for number in 0..<50 { runs.append(try await begin(cancelOne(number))) }
        let refused = try await DashboardScene.ask(dashboard, "/jobs/act", cancelOne(50) + [("confirmed", "yes")])
        #expect(refused.status == 503)
        #expect(refused.text.contains("50 bulk actions are already running"))
        let clearing = try await DashboardScene.ask(dashboard, "/queues/images/clear", [])
        #expect(clearing.status == 503)
        let listed = try await page("/actions")
        #expect(runs.allSatisfy { listed.contains(#"href="/errand\#($0)""#) })
        proxy.release()
        for run in runs { try await until("all are done") { try await page(run).contains("Done: 1 job.") } }
        // The oldest ended action is removed to make room.
        let next = try await begin(cancelOne(51))
        #expect(try await DashboardScene.ask(dashboard, runs[0]).status == 404)
        #expect(try await DashboardScene.ask(dashboard, runs[1]).status == 200)
        try await until("the next one is done") { try await page(next).contains("Done: 1 job.") }
        #expect(try await scene.desk.broker.status(of: "images").queue.ready == 1)
    }
}

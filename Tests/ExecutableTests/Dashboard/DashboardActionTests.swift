import Errand
import ErrandDashboard
import ErrandOperator
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The results of an operator's actions.
@Suite struct DashboardActionTests {
    private func ids(_ state: JobState, _ scene: DashboardScene) async throws -> [String] {
        try await scene.desk.broker.jobs(in: state, on: "images", from: 0, count: 500).jobs.map(\.id).sorted()
    }

    private func dead(_ count: Int) async throws -> DashboardScene {
        let scene = try await DashboardScene()
        let lines = (0..<count).map { #"{"operation":"work","id":"j\#($0)","queue":"images"}"# }
        try await scene.push(lines.joined(separator: "\n"))
        for index in 0..<count {
            try await scene.desk.work(.failed, error: index % 2 == 0 ? "even" : "odd", queue: "images")
        }
        return scene
    }

    @Test func `a request about a missing queue does not create it`() async throws {
        let scene = try await DashboardScene()
        for way in ["pause", "resume", "clear"] {
            let answer = try await scene.ask("/queues/typo/\(way)", [])
            #expect(answer.status == 404)
            #expect(answer.text.contains("does not exist"), "\(answer.text)")
        }
        #expect(try await !scene.desk.broker.hasQueue("typo"))
        #expect(try await !scene.desk.broker.queues().contains("typo"))
    }

    @Test func retriesTheSelectedJobs() async throws {
        let scene = try await dead(3)
        let form = [("action", "retry"), ("scope", "selected"), ("job", "images:j0"), ("job", "images:j2")]
        #expect(try await scene.ask("/jobs/act", form).status == 303)
        try await until("two are back") { try await ids(.ready, scene) == ["j0", "j2"] }
        #expect(try await ids(.dead, scene) == ["j1"])
        #expect(try await scene.ask("/jobs/act", [("action", "dance")]).status == 400)
    }

    @Test func asksBeforeItActsOnAllThatMatch() async throws {
        let scene = try await dead(5)
        let form = [
            ("action", "retry"), ("scope", "matching"), ("queue", "images"), ("error", "even"), ("state", "dead"),
        ]
        let question = try await scene.ask("/jobs/act", form)
        #expect(question.status == 200)
        #expect(question.text.contains("Retry 3 jobs in the state dead?"))
        #expect(try await ids(.dead, scene).count == 5)
        let answer = try await scene.ask("/jobs/act", form + [("confirmed", "yes")])
        #expect(answer.status == 303)
        try await until("three are back") { try await ids(.ready, scene) == ["j0", "j2", "j4"] }
        try await until("it is logged") { scene.log.lines.contains { $0.contains("outcome=3 done, 0 not") } }
    }

    @Test func aConfirmationCoversTheJobsOfItsTime() async throws {
        let scene = try await dead(3)
        let form = [
            ("action", "delete"), ("scope", "matching"), ("queue", "images"), ("state", "dead"), ("since", "2h"),
        ]
        let question = try await scene.ask("/jobs/act", form).text
        let hidden = question.matches(of: /name="(\w+)" value="([^"]*)"/).map { (String($0.1), String($0.2)) }
        #expect(hidden.count { $0.0 == "job" } == 3, "\(hidden)")
        try await scene.push(#"{"operation":"work","id":"later","queue":"images"}"#)
        try await scene.desk.work(.failed, error: "x", queue: "images")
        #expect(try await scene.ask("/jobs/act", hidden + [("confirmed", "yes")]).status == 303)
        try await until("what was dead then is deleted") { try await ids(.dead, scene) == ["later"] }
    }

    @Test func showsHowFarALongActionIs() async throws {
        let scene = try await dead(2)
        let dashboard = ErrandDashboard(broker: scene.desk.broker) { _ in .acting(as: "Ada") }
        let form = [("action", "delete"), ("scope", "matching"), ("confirmed", "yes")]
        let started = try await DashboardScene.ask(dashboard, "/jobs/act", form)
        let place = try #require(started.headers[.location]).dropFirst("/errand".count)
        try await until("it is done") {
            try await DashboardScene.ask(dashboard, String(place)).text.contains("Done: 2 jobs.")
        }
        #expect(try await DashboardScene.ask(dashboard, "/actions").text.contains("2 done, 0 not"))
    }

    @Test func linksTheJobsOfTheActions() async throws {
        let scene = try await dead(1)
        let dashboard = ErrandDashboard(broker: scene.desk.broker) { _ in .acting(as: "Ada") }
        let form = [("description", #"{"operation":"work","queue":"files"}"#)]
        let answer = try await DashboardScene.ask(dashboard, "/queues/images/jobs/j0/edit", form)
        let new = try #require(answer.headers[.location]?.firstMatch(of: /jobs\/([^?]+)/)).1
        let page = try await DashboardScene.ask(dashboard, "/actions").text
        #expect(page.contains(#"job <a href="/errand/queues/images/jobs/j0">j0</a> of images"#))
        #expect(page.contains(#"accepted as <a href="/errand/queues/files/jobs/\#(new)">\#(new)</a> in files"#))
    }

    @Test func clearsAQueueAndNothingElse() async throws {
        let scene = try await dead(1)
        try await scene.push(
            #"{"operation":"work","id":"a","queue":"images"}"#,
            #"{"operation":"work","id":"b","queue":"images","not_before_ms":4102444800000}"#,
            #"{"operation":"work","id":"c","queue":"files"}"#
        )
        #expect(try await scene.ask("/queues/images/clear", []).status == 303)
        try await until("images is empty") {
            let (ready, scheduled) = (try await ids(.ready, scene), try await ids(.scheduled, scene))
            return ready.isEmpty && scheduled.isEmpty
        }
        #expect(try await ids(.dead, scene) == ["j0"])
        #expect(try await scene.desk.broker.status(of: "files").queue.ready == 1)
        try await until("the end is noted") { scene.log.lines.contains { $0.contains("outcome=2 done") } }
        #expect(scene.log.lines.contains { $0.contains("outcome=begun") })
    }

    @Test func editsADeadJob() async throws {
        let scene = try await dead(1)
        let page = try await scene.ask("/queues/images/jobs/j0?arguments=show").text
        #expect(page.contains("<textarea"))
        let edited = #"{"operation":"work","queue":"images","arguments":{"a":1}}"#
        let answer = try await scene.ask("/queues/images/jobs/j0/edit", [("description", edited)])
        #expect(answer.status == 303)
        #expect(try await ids(.dead, scene) == [])
        #expect(try await ids(.ready, scene).count == 1)
        #expect(try await scene.ask("/queues/images/jobs/j0/edit", [("description", "{}")]).status == 400)
        #expect(
            scene.log.lines.contains { $0.contains("action=refused") && $0.contains("/queues/images/jobs/j0/edit") }
        )
    }

    @Test func hiddenMembersSurviveAnEdit() async throws {
        let scene = try await DashboardScene()
        try await scene.push(
            #"{"operation":"work","id":"j0","queue":"images","arguments":{"a":"x\#u{202E}y\#u{E0041}"}}"#
        )
        try await scene.desk.work(.failed, error: "odd", queue: "images")
        let page = try await scene.ask("/queues/images/jobs/j0?arguments=show").text
        let form = try #require(page.firstMatch(of: /<textarea[^>]*>\n([^<]*)<\/textarea>/)).1
        let description = String(form).replacing("&quot;", with: "\"")
        #expect(description.contains(#""x\u202ey\udb40\udc41""#))
        let edited = try await scene.ask("/queues/images/jobs/j0/edit", [("description", description)])
        #expect(edited.status == 303)
        let id = try #require(try await ids(.ready, scene).first)
        let record = try #require(try await scene.desk.broker.inspect([id], on: "images").first ?? nil)
        let arguments = try #require(JobSummary(record, in: "images").stored?.description).arguments
        let value = try JSONDecoder().decode([String: String].self, from: Data(arguments.bytes))["a"]
        #expect(value == "x\u{202E}y\u{E0041}")
    }

    @Test func runsASchedule() async throws {
        let scene = try await DashboardScene()
        let words = ["schedule", "add", "nightly", "work", "--every", "1d", "--queue", "images"]
        #expect(try await Executable.console.run(words, on: scene.server).status == 0)
        let page = try await scene.ask("/schedules").text
        #expect(page.contains("nightly") && page.contains("Run now") && page.contains("by hand"))
        let form = [("queue", "images"), ("name", "nightly")]
        #expect(try await scene.ask("/schedules/run", form).status == 303)
        #expect(try await ids(.ready, scene).count == 1)
        #expect(try await scene.ask("/schedules/run", [("queue", "images"), ("name", "other")]).status == 404)
    }
}

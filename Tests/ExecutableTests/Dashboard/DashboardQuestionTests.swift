import Errand
import ErrandDashboard
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The confirmations of actions on many jobs, which affect no other jobs.
@Suite struct DashboardQuestionTests {
    private func scene(_ ready: Int) async throws -> (DashboardScene, ErrandDashboard) {
        let scene = try await DashboardScene()
        let lines = (0..<ready).map { #"{"operation":"work","id":"j\#($0)","queue":"images"}"# }
        try await scene.push(lines.joined(separator: "\n"))
        return (scene, ErrandDashboard(broker: scene.desk.broker) { _ in .acting(as: "Ada") })
    }

    private func ids(_ state: JobState, _ scene: DashboardScene) async throws -> [String] {
        try await scene.desk.broker.jobs(in: state, on: "images", from: 0, count: 500).jobs.map(\.id).sorted()
    }

    private func form(_ action: String, _ state: String) -> [(String, String)] {
        [("action", action), ("scope", "matching"), ("queue", "images"), ("state", state)]
    }

    /// The hidden fields of a page's form.
    private func hidden(_ page: String) -> [(String, String)] {
        page.matches(of: /type="hidden" name="(\w+)" value="([^"]*)"/).map { (String($0.1), String($0.2)) }
    }

    /// Confirms a question, and returns the page of the started action.
    private func sayYes(_ question: String, _ dashboard: ErrandDashboard) async throws -> String {
        let yes = hidden(question) + [("confirmed", "yes")]
        let answer = try await DashboardScene.ask(dashboard, "/jobs/act", yes)
        #expect(answer.status == 303, "\(answer.text)")
        let place = String(try #require(answer.headers[.location]).dropFirst("/errand".count))
        try await until("it has ended") {
            try await !DashboardScene.ask(dashboard, place).text.contains("data-live")
        }
        return try await DashboardScene.ask(dashboard, place).text
    }

    @Test(arguments: ["delete", "cancel"])
    func irreversibleActionsNeedAConfirmationForSelectedJobsToo(_ action: String) async throws {
        let (scene, dashboard) = try await scene(3)
        let form = [
            ("action", action), ("scope", "selected"), ("queue", "images"), ("job", "images:j0"), ("job", "images:j2"),
        ]
        let question = try await DashboardScene.ask(dashboard, "/jobs/act", form)
        #expect(question.status == 200)
        #expect(question.text.contains("\(action.capitalized) 2 selected jobs?"), "\(question.text)")
        #expect(question.text.contains(#"href="/errand/jobs?queue=images""#), "the way back")
        #expect(try await ids(.ready, scene) == ["j0", "j1", "j2"])
        let page = try await sayYes(question.text, dashboard)
        #expect(page.contains("Done: 2 jobs."), "\(page)")
        #expect(try await ids(.ready, scene) == ["j1"])
    }

    @Test(arguments: [("name", "caf\u{E9}"), ("opertion", "work")])
    func anInvalidFilterIsNotIgnored(_ field: (String, String)) async throws {
        let (scene, dashboard) = try await scene(3)
        let order = form("cancel", "ready") + [("confirmed", "yes"), field]
        let answer = try await DashboardScene.ask(dashboard, "/jobs/act", order, inLatin1: true)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(try await ids(.ready, scene) == ["j0", "j1", "j2"])
    }

    @Test func anInvalidAddressShowsNothing() async throws {
        let (_, dashboard) = try await scene(3)
        for place in ["/jobs?queue=%FF", "/jobs?name=%", "/jobs?%C3=1"] {
            #expect(try await DashboardScene.ask(dashboard, place).status == 400, "\(place)")
        }
    }

    @Test(arguments: [3, 1500]) func jobsPushedAfterTheQuestionAreLeftAlone(_ count: Int) async throws {
        let (scene, dashboard) = try await scene(count)
        let question = try await DashboardScene.ask(dashboard, "/jobs/act", form("cancel", "ready")).text
        #expect(question.contains("Cancel \(count == 3 ? "3" : "1,500") jobs in the state ready?"))
        try await scene.push(#"{"operation":"work","id":"later","queue":"images"}"#)
        let page = try await sayYes(question, dashboard)
        #expect(page.contains("Done: \(count == 3 ? "3" : "1,500") jobs."), "\(page)")
        // A page can contain a few ids; for many jobs their times decide.
        #expect(
            page.contains("1 job came into line after the question, and were left alone.") == (count > 3),
            "\(page)"
        )
        #expect(try await scene.desk.broker.status(of: "images").queue.ready == 1)
        #expect(try await scene.desk.broker.inspect(["later"], on: "images").first??.state == .ready)
    }

    /// Their times do not show it: they existed in another state.
    @Test func jobsThatStartAfterTheQuestionAreLeftAlone() async throws {
        let (scene, dashboard) = try await scene(3)
        _ = try await scene.desk.claim(1, from: "images")
        let question = try await DashboardScene.ask(dashboard, "/jobs/act", form("cancel", "running")).text
        #expect(question.contains("Cancel 1 job in the state running?"))
        _ = try await scene.desk.claim(1, from: "images")
        #expect(try await sayYes(question, dashboard).contains("Done: 1 job."))
        let stopping = try await scene.desk.broker.inspect(["j0", "j1"], on: "images")
        #expect(stopping.compactMap { $0?.state } == [.running, .running])
        #expect(try scene.server.run("HKEYS", "errand:{images}:stops") == "j0")
    }

    @Test func manyMoreThanCountedNeedAnotherConfirmation() async throws {
        let (scene, dashboard) = try await scene(150)
        _ = try await scene.desk.claim(150, from: "images")
        let old = form("cancel", "running").map { #"<input type="hidden" name="\#($0.0)" value="\#($0.1)">"# }
        let page = try await sayYes(old.joined() + #"<input type="hidden" name="counted" value="1">"#, dashboard)
        #expect(page.contains("150 jobs match by now, and the question was about 1; nothing was done"), "\(page)")
        #expect(try await DashboardScene.ask(dashboard, "/actions").text.contains("nothing was done"))
        let again = try await DashboardScene.ask(dashboard, "/jobs/act", hidden(page)).text
        #expect(again.contains("Cancel 150 jobs in the state running?"), "\(page)")
        #expect(try await sayYes(again, dashboard).contains("Done: 150 jobs."))
    }

    @Test(arguments: ["-1", "many"])
    func anInventedCountIsRejected(_ number: String) async throws {
        let (scene, dashboard) = try await scene(1)
        let yes = form("cancel", "ready") + [("counted", number), ("confirmed", "yes")]
        #expect(try await DashboardScene.ask(dashboard, "/jobs/act", yes).status == 400)
        #expect(try await ids(.ready, scene) == ["j0"])
    }

    @Test func theLogHasTheSelection() async throws {
        let scene = try await DashboardScene()
        let all = [("action", "retry"), ("scope", "matching"), ("confirmed", "yes")]
        #expect(try await scene.ask("/jobs/act", all).status == 303)
        let some = form("delete", "dead") + [("error", "disk full"), ("confirmed", "yes")]
        #expect(try await scene.ask("/jobs/act", some).status == 303)
        try await until("both are logged") { scene.log.lines.count == 4 }
        let (every, one) = (
            "target=all jobs in the state dead of every queue user=",
            "target=all jobs in the state dead of images with error=disk%20full user="
        )
        for target in [every, one] {
            #expect(scene.log.lines.filter { $0.contains(target) }.count == 2, "\(scene.log.lines)")
        }
    }
}

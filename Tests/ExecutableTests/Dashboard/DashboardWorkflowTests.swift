import Errand
import ErrandDashboard
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The pages of workflows, and what operators do with them.
@Suite struct DashboardWorkflowTests {
    /// `fetch` → `parse` → `report`, and `alert` if `parse` fails.
    private static let jobs: [(String, [String], WorkflowCondition)] = [
        ("fetch", [], .success), ("parse", ["fetch"], .success), ("report", ["parse"], .success),
        ("alert", ["parse"], .failure),
    ]

    private func push(
        _ name: String = "import 42",
        _ jobs: [(String, [String], WorkflowCondition)] = Self.jobs,
        queue: String = "images",
        to scene: DashboardScene
    ) async throws -> String {
        let description = try WorkflowDescription(
            name,
            queue: queue,
            jobs: try jobs.map { key, after, when in
                .init(key, try OperationDescription("work", retries: 0), after: after, when: when)
            }
        )
        return try await Producer(broker: scene.desk.broker).push(description).workflow
    }

    private func record(_ id: String, _ scene: DashboardScene) async throws -> WorkflowRecord? {
        try await scene.desk.broker.workflow(try #require(WorkflowID(id)))
    }

    /// Pushes the workflow, ends `fetch`, and lets `parse` die.
    private func held(_ scene: DashboardScene) async throws -> String {
        let id = try await push(to: scene)
        try await scene.desk.work(.finished, queue: "images")
        try await until("parse can run") { try await scene.desk.broker.status(of: "images").queue.ready == 1 }
        try await scene.desk.work(.failed, error: "no <b>bold</b>\nline 2", queue: "images")
        return id
    }

    @Test func `workflows of all queues are listed, newest first, in pages`() async throws {
        let scene = try await DashboardScene()
        for number in 0..<130 {
            let queue = number.isMultiple(of: 3) ? "files" : "images"
            _ = try await push("flow \(number)", [("a", [], .success)], queue: queue, to: scene)
        }
        let first = try await scene.ask("/workflows").text
        func numbers(_ page: String) -> [Int] { page.matches(of: />flow (\d+)<\/a>/).compactMap { Int($0.1) } }
        let next = try #require(first.firstMatch(of: /href="\/errand([^"]*)" rel="next"/)?.1)
        let second = try await scene.ask(String(next).replacing("&amp;", with: "&")).text
        let (newer, older) = (numbers(first), numbers(second))
        #expect(newer.count == 100 && Set(newer + older) == Set(0..<130) && !second.contains(#"rel="next""#))
        // Some may have been pushed in the same millisecond.
        #expect(zip(newer + older, (0..<130).reversed()).allSatisfy { abs($0 - $1) <= 5 }, "\(newer) \(older)")
        let files = try await scene.ask("/workflows?queue=files").text
        #expect(numbers(files).count == 44 && files.contains("<option selected>files</option>"))
        #expect(first.contains(#"<a href="/errand/workflows" aria-current="page">"#))
        #expect(try await scene.ask("/queues/files").text.contains(#"href="/errand/workflows?queue=files""#))
    }

    @Test func `a row has the state, how many jobs have ended, and how many are dead`() async throws {
        let scene = try await DashboardScene()
        let id = try await held(scene)
        let page = try await scene.ask("/workflows").text
        #expect(page.contains(#"<a href="/errand/workflows/\#(id)">import 42</a> <code class="id">\#(id)</code>"#))
        let record = try #require(try await record(id, scene))
        #expect(page.contains(#">\#(record.count - record.open) of 4</td>"#), "\(page)")
        #expect(page.contains(#"<span class="tag failed">failed</span>"#))
        #expect(page.contains(#"class="number bad">1</td>"#))
        #expect(!page.contains("{{"))
    }

    @Test func `positions and queues that no page links to are refused`() async throws {
        let scene = try await DashboardScene()
        for position in ["x", "images", "images:x", "images:-1", "images:1:2", "a%20b:1", ":1"] {
            #expect(try await scene.ask("/workflows?from=\(position)").status == 400, "\(position)")
        }
        #expect(try await scene.ask("/workflows?queue=none").status == 404)
        #expect(try await scene.ask("/workflows?queue=a%20b").status == 404)
    }

    @Test func `an id of no workflow is a clear message`() async throws {
        let scene = try await DashboardScene()
        for id in ["x", "images", "images:short", "images:4fJ0aQ9bX2cD7eH%3C", "%3Cb%3E:4fJ0aQ9bX2cD7eHk"] {
            let page = try await scene.ask("/workflows/\(id)")
            #expect(page.status == 404 && page.text.contains("that is no workflow&#39;s id"), "\(id): \(page.text)")
        }
        for way in ["", "/cancel", "/retry", "/delete"] {
            let page = try await scene.ask("/workflows/images:4fJ0aQ9bX2cD7eHk\(way)", way.isEmpty ? nil : [])
            #expect(page.status == 404, "\(way)")
            #expect(page.text.contains("there is no workflow images:4fJ0aQ9bX2cD7eHk"), "\(page.text)")
        }
        let id = try await push(to: scene)
        #expect(try await scene.ask("/workflows/\(id)/dance", []).status == 404)
        #expect(try await scene.ask("/workflows/\(id)?from=-1").status == 400)
        #expect(try await scene.ask("/workflows/\(id.replacing(":", with: "%3A"))").status == 200)
    }

    @Test func `the page says what each job comes after, waits for, and why it died`() async throws {
        let scene = try await DashboardScene()
        let id = try await held(scene)
        let page = try await scene.ask("/workflows/\(id)").text
        #expect(page.contains("Workflow import 42") && page.contains(#"<span class="tag failed">failed</span>"#))
        #expect(page.contains("parse (failure)") && page.contains("parse (dead)"), "\(page)")
        #expect(page.contains("<summary>no &lt;b&gt;bold&lt;/b&gt;</summary>") && !page.contains("<b>bold"))
        #expect(page.contains(#"<td data-label="attempts" class="number">1</td>"#))
        #expect(page.contains("Dotted lines: by failure.") && page.contains(#"data-live="2000""#))
        #expect(page.contains("report: blocked; waits for parse (dead)"))
        #expect(!page.contains("{{"))
    }

    @Test func `hostile names are text`() async throws {
        let scene = try await DashboardScene()
        let name = "<script>alert(1)</script>\"\u{301} onload='x' \u{202e}{{base}}" + String(repeating: "n", count: 900)
        let id = try await push(name, to: scene)
        for path in ["/workflows", "/workflows/\(id)"] {
            let page = try await scene.ask(path).text
            #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "\(page)")
            // A quote with a combining mark is one character.
            #expect(page.unicodeScalars.firstRange(of: "\"\u{301}".unicodeScalars) == nil)
            #expect(!page.contains("<script>alert") && !page.contains("\u{202e}") && page.contains("{{base}}"))
        }
        let invisible = try await push(" ", to: scene)
        #expect(try await scene.ask("/workflows").text.contains(#"/workflows/\#(invisible)">–</a>"#))
    }

    @Test func `a job leads to its workflow, also after its end`() async throws {
        let scene = try await DashboardScene()
        let id = try await held(scene)
        let token = id.dropFirst("images:".count)
        let dead = try await scene.ask("/queues/images/jobs/\(token)-1").text
        #expect(dead.contains(#"<dd><a href="/errand/workflows/\#(id)">parse of \#(id)</a></dd>"#), "\(dead)")
        let finished = try await scene.ask("/queues/images/jobs/\(token)-0").text
        #expect(finished.contains(#"<dd><a href="/errand/workflows/\#(id)">\#(id)</a></dd>"#), "\(finished)")
        try await scene.push(#"{"operation":"work","id":"other-1","queue":"files"}"#)
        #expect(try await !scene.ask("/queues/files/jobs/other-1").text.contains("/workflows/"))
    }

    @Test func `dead jobs are retried, and the workflow is cancelled and deleted`() async throws {
        let scene = try await DashboardScene()
        let id = try await held(scene)
        let retried = try await scene.ask("/workflows/\(id)/retry", [])
        #expect(retried.status == 303)
        #expect(retried.headers[.location]?.hasPrefix("/errand/workflows/\(id)?notice=") == true)
        #expect(try await record(id, scene)?.state == .running)
        let claim = try #require(try await scene.desk.claim(1, from: "images").first)
        let refused = try await scene.ask("/workflows/\(id)/delete", [])
        #expect(refused.status == 303 && refused.headers[.location]?.contains("not%20deleted") == true)
        #expect(try await record(id, scene) != nil)
        try await scene.desk.report(claim, .finished, queue: "images")
        #expect(try await scene.ask("/workflows/\(id)/cancel", []).status == 303)
        try await until("it is cancelled") { try await record(id, scene)?.state == .cancelled }
        let deleted = try await scene.ask("/workflows/\(id)/delete", [])
        #expect(deleted.headers[.location]?.hasPrefix("/errand/workflows?notice=") == true)
        #expect(try await record(id, scene) == nil)
        let kept = scene.log.lines
        for words in ["retry workflow", "cancel workflow", "delete workflow"] {
            #expect(kept.contains { $0.contains("action=\(words)") && $0.contains("target=workflow \(id)") }, "\(kept)")
        }
        let running = "outcome=not deleted, because 1 job of it runs; cancel it first"
        #expect(kept.contains { $0.contains(running) && $0.contains("user=Ada") }, "\(kept)")
    }

    @Test func `actions are shown only to users with permission, and other sites are refused`() async throws {
        let scene = try await DashboardScene()
        let id = try await held(scene)
        let page = try await scene.ask("/workflows/\(id)").text
        #expect(page.contains(#"action="/errand/workflows/\#(id)/retry""#))
        #expect(page.contains("data-confirm=\"Delete this workflow with all of its jobs?\""))
        #expect(try await !scene.ask("/workflows/\(id)", as: .reading(as: "Bo")).text.contains("<button>Retry"))
        for way in ["cancel", "retry", "delete"] {
            let path = "/workflows/\(id)/\(way)"
            #expect(try await scene.ask(path, [], headers: [.origin: "http://evil.example"]).status == 403)
            #expect(try await scene.ask(path, [], as: .reading(as: "Bo")).status == 403)
        }
        #expect(try await record(id, scene)?.state == .failed)
        #expect(scene.log.lines.count == 6 && scene.log.lines.allSatisfy { $0.contains("action=refused") })
    }

    @Test func `without the broker the pages say so`() async throws {
        let scene = try await DashboardScene()
        let id = try await push(to: scene)
        scene.server.kill(SIGKILL)
        for path in ["/workflows", "/workflows/\(id)"] { #expect(try await scene.ask(path).status == 503, "\(path)") }
    }

    @Test func `a damaged queue does not hide the workflows of others`() async throws {
        let scene = try await DashboardScene()
        _ = try await push("seen", queue: "files", to: scene)
        try scene.server.run("SET", "errand:{images}:workflows", "rubbish")
        let page = try await scene.ask("/workflows")
        #expect(page.status == 200 && page.text.contains(">seen</a>"), "\(page.text)")
        #expect(page.text.contains("queue images cannot be read: "))
    }
}

import Errand
import ErrandDashboard
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The page of a job: what went wrong, its timeline, and pushing it again.
@Suite struct DashboardJobPageTests {
    private static let job = "/queues/images/jobs/one"

    private func scene(_ members: String = "") async throws -> DashboardScene {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"one","queue":"images"\#(members)}"#)
        return scene
    }

    private func ready(_ scene: DashboardScene) async throws -> [JobRecord] {
        try await scene.desk.broker.jobs(in: .ready, on: "images", from: 0, count: 10).jobs
    }

    @Test func showsTheDefaultNumberOfAttempts() async throws {
        let scene = try await DashboardScene()
        try await scene.push(
            #"{"operation":"work","id":"usual","queue":"images"}"#,
            #"{"operation":"work","id":"special","queue":"images","retries":6}"#
        )
        for _ in 0..<2 { try await scene.desk.work(.failed, error: "x", retryDelay: 600_000, queue: "images") }
        let list = try await scene.askOn("/jobs?state=retrying")
        #expect(list.contains("attempt 1/4") && list.contains("attempt 1/7"), "\(list)")
        #expect(try await scene.ask("/queues/images/jobs/usual").text.contains("1 of 4"))
        #expect(try await scene.ask("/queues/images/jobs/special").text.contains("1 of 7"))
    }

    @Test func `the first line of the error is the headline of a dead job`() async throws {
        let scene = try await scene()
        #expect(try await !scene.ask(Self.job).text.contains("class=\"headline\""))
        try await scene.desk.work(.failed, error: "no such <file>\nat line 2", queue: "images")
        let page = try await scene.ask(Self.job).text
        #expect(page.contains(#"<p class="headline">no such &lt;file&gt;</p>"#))
        #expect(page.contains("<pre>no such &lt;file&gt;\nat line 2</pre>"))
    }

    @Test func `runs that failed alike are one step with the times of all`() async throws {
        let scene = try await scene()
        try scene.server.run("HSET", "errand:{images}:failures", "one", "3")
        let events = (1...3).reversed().map { run in
            #"{"event":"failed","id":"one","attempt":\#(run),"at_ms":\#(run * 10_000),"duration_ms":1000,"error":"no route"}"#
        }
        try scene.server.run("HSET", "errand:{images}:errors", "one", events.joined(separator: "\t"))
        let page = try await scene.ask(Self.job).text
        #expect(page.contains("<b>failed 3 times, attempts 1 to 3</b>"), "\(page)")
        #expect(page.contains(#"<span class="span failed">ran 3 s</span>"#))
        #expect(page.contains(#"<span class="span waited">waited 18 s</span>"#))
        #expect(page.matches(of: /<pre>no route<\/pre>/).count == 1)
        #expect(page.contains(#"<svg class="spans""#))
        #expect(page.contains("<b>ready, waits for a worker</b>"))
    }

    @Test func `a job of the library has the time of its push, and its trace`() async throws {
        let scene = try await DashboardScene()
        let trace = "0af7651916cd43dd8448eb211c80319c"
        try await scene.push(
            #"{"operation":"work","queue":"images","meta":{"traceparent":"00-\#(trace)-b7ad6b7169203331-01"}}"#
        )
        let id = try #require(try await ready(scene).first).id
        let page = try await scene.ask("/queues/images/jobs/\(id)").text
        #expect(page.contains("<dt>Pushed</dt>") && page.contains("<b>pushed</b>"))
        #expect(page.contains("<dt>Trace</dt><dd>\(trace)</dd>"))
        let row = try await scene.ask("/jobs?queue=images").text
        #expect(row.contains("…\(id.dropFirst(5).prefix(9))…</code>"))
    }

    @Test func `a job that is not dead is pushed again beside the old one`() async throws {
        let scene = try await scene()
        let page = try await scene.ask(Self.job + "?arguments=show").text
        #expect(page.contains(#"action="/errand/queues/images/jobs/one/copy""#))
        let edited = #"{"operation":"work","queue":"images","id":"one","arguments":{"a":1}}"#
        let answer = try await scene.ask(Self.job + "/copy", [("description", edited)])
        #expect(answer.status == 303)
        let jobs = try await ready(scene)
        #expect(jobs.count == 2 && jobs.contains { $0.id == "one" })
        #expect(scene.log.lines.contains { $0.contains("action=copy") && $0.contains("target=job one of images") })
    }

    @Test(arguments: ["edit", "copy"])
    func `a description that is not accepted is shown again with the reason`(_ way: String) async throws {
        let scene = try await scene()
        let before = try await ready(scene).count
        let answer = try await scene.ask(Self.job + "/\(way)", [("description", #"{"operation":"a b<"}"#)])
        #expect(answer.status == 400)
        #expect(answer.text.contains(#"{&quot;operation&quot;:&quot;a b&lt;&quot;}"#), "\(answer.text)")
        #expect(answer.text.contains(#"<p class="notice bad""#))
        #expect(try await ready(scene).count == before)
        #expect(scene.log.lines.contains { $0.contains("action=refused") })
    }

    @Test func `a checkpoint is shown with the arguments`() async throws {
        let scene = try await scene()
        let claim = try #require(try await scene.desk.claim(1, from: "images").first)
        let update = JobUpdate(id: claim.id, token: claim.token, checkpoint: Array("row <17>".utf8))
        #expect(try await scene.desk.broker.update(update, of: scene.desk.session, on: "images"))
        #expect(try await !scene.ask(Self.job).text.contains("row "))
        #expect(try await scene.ask(Self.job + "?arguments=show").text.contains("<pre>row &lt;17&gt;</pre>"))
    }
}

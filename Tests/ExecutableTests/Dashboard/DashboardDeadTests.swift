import Errand
import ErrandDashboard
import ErrandOperator
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The page of dead jobs: newest first across queues, and by error.
@Suite struct DashboardDeadTests {
    /// Makes dead jobs. Their times are set, because jobs may die within the same millisecond.
    private func bury(
        _ jobs: [(id: String, queue: String, at: Int, error: String)],
        in scene: DashboardScene
    ) async throws {
        try await scene.push(
            jobs.map { #"{"operation":"work","id":"\#($0.id)","queue":"\#($0.queue)"}"# }.joined(separator: "\n")
        )
        let errors = Dictionary(jobs.map { ($0.id, $0.error) }) { $1 }
        for queue in Set(jobs.map(\.queue)) {
            while true {
                let claims = try await scene.desk.claim(100, from: queue)
                if claims.isEmpty { break }
                for claim in claims {
                    try await scene.desk.report(claim, .failed, error: errors[claim.id], queue: queue)
                }
                if try await scene.desk.broker.status(of: queue).queue.ready == 0 { break }
            }
        }
        for job in jobs { try scene.server.run("ZADD", "errand:{\(job.queue)}:dead", "\(job.at)", job.id) }
    }

    private func ids(_ page: String) -> [String] {
        page.matches(of: /<code title="(\w+)">/).map { String($0.1) }
    }

    private func next(_ page: String) -> String? {
        page.firstMatch(of: /href="\/errand([^"]*)" rel="next"/).map { String($0.1).replacing("&amp;", with: "&") }
    }

    @Test func `dead jobs of all queues are listed by time, newest first`() async throws {
        let scene = try await DashboardScene()
        try await bury(
            [
                ("a", "images", 1000, "x"), ("b", "files", 2000, "x"), ("c", "images", 3000, "x"),
                ("d", "files", 3000, "x"), ("e", "images", 4000, "x"),
            ],
            in: scene
        )
        // Of equal times, the queues' names decide.
        #expect(ids(try await scene.ask("/jobs?state=dead").text) == ["e", "d", "c", "b", "a"])
    }

    @Test func `pages of dead jobs have each job once, although others die and are retried meanwhile`() async throws {
        let scene = try await DashboardScene()
        let jobs = (0..<120).map {
            (id: "j\($0)", queue: $0 % 3 == 0 ? "files" : "images", at: 1000 + $0 / 4, error: "x")
        }
        try await bury(jobs, in: scene)
        let first = try await scene.ask("/jobs?state=dead").text
        #expect(ids(first).count == 50)
        #expect(first.contains("Newest first: 50 of 120."), "\(first)")
        let last = try #require(ids(first).last)
        let queue = try #require(jobs.first { $0.id == last }?.queue)
        #expect(try await scene.desk.broker.retry([last], on: queue) == [.retried])
        try await bury([("late", "images", 9000, "x")], in: scene)
        var (seen, page) = (ids(first), first)
        // On a busy machine a page may have fewer jobs.
        while let path = next(page) {
            page = try await scene.ask(path).text
            seen += ids(page)
        }
        #expect(seen.count == 120)
        #expect(Set(seen) == Set(jobs.map(\.id)))
        let times = seen.compactMap { id in jobs.first { $0.id == id }?.at }
        #expect(times == times.sorted(by: >))
    }

    @Test func `a position of another list is a message on the page`() async throws {
        let scene = try await DashboardScene()
        for from in ["images:dead:50", "newest:x:images:j1", "newest:1:images", "newest:1:a%20b:j1"] {
            let page = try await scene.ask("/jobs?state=dead&from=\(from)")
            #expect(page.status == 400 && page.text.contains("this link to a further page is not valid"), "\(from)")
            #expect(page.text.contains("<form class=\"filter\""), "\(from)")
        }
    }

    @Test func `equal errors are one group, and all of a group are retried`() async throws {
        let scene = try await DashboardScene()
        try await bury(
            [
                ("a", "images", 1000, "timeout after 30 s\nat line 7"), ("b", "files", 2000, "timeout after 31 s"),
                ("c", "images", 3000, "no such file <x>"), ("d", "images", 4000, "timeout after 5 s\nat line 8"),
            ],
            in: scene
        )
        let page = try await scene.ask("/jobs?state=dead").text
        #expect(page.contains("Of all 4 dead jobs."))
        let groups = page.matches(
            of: /<span class="count">(\d+)<\/span>\n<div class="what"><a href="([^"]*)"><code>([^<]*)</
        )
        #expect(groups.map { "\($0.1) \($0.3)" } == ["3 timeout after # s", "1 no such file &lt;x&gt;"])
        let place = String(try #require(groups.first).2).replacing("&amp;", with: "&").dropFirst("/errand".count)
        #expect(ids(try await scene.ask(String(place)).text) == ["d", "b", "a"])
        let form = [
            ("state", "dead"), ("group", "timeout after # s"), ("scope", "matching"), ("action", "retry"),
        ]
        #expect(
            try await scene.ask("/jobs/act", form).text.contains(
                "Retry 3 jobs in the state dead with the error “timeout after # s”?"
            )
        )
        #expect(try await scene.ask("/jobs/act", form + [("confirmed", "yes")]).status == 303)
        try await until("the group is ready") {
            let (images, files) = (
                try await scene.desk.broker.status(of: "images").queue,
                try await scene.desk.broker.status(of: "files").queue
            )
            return images.ready == 2 && files.ready == 1 && images.dead == 1
        }
    }

    @Test func `tabs have counts, and only the actions that apply are offered`() async throws {
        let scene = try await DashboardScene()
        try await bury([("a", "images", 1000, "x")], in: scene)
        try await scene.push(#"{"operation":"work","id":"r","queue":"images"}"#)
        let ready = try await scene.ask("/jobs?state=ready&queue=images").text
        #expect(ready.contains(/aria-current="page">Ready <span class="count">1<\/span>/))
        #expect(ready.contains(#"href="/errand/jobs?queue=images&amp;state=dead">Dead <span class="count bad">1<"#))
        #expect(ready.contains(#"Scheduled <span class="count zero">0<"#) && ready.contains(">Finished</a>"))
        #expect(ready.contains(#"value="cancel""#) && !ready.contains(#"value="retry""#))
        let dead = try await scene.ask("/jobs?state=dead").text
        #expect(dead.contains(#"value="retry""#) && !dead.contains(#"value="cancel""#))
    }

    @Test func `arguments and operations are found by a part of them`() async throws {
        let scene = try await DashboardScene()
        try await scene.push(
            #"{"operation":"work","id":"one","queue":"images","arguments":{"path":"Cat.jpg"}}"#,
            #"{"operation":"work","id":"two","queue":"images","arguments":{"path":"dog.jpg"}}"#,
            #"{"operation":"rework","id":"three","queue":"images"}"#
        )
        #expect(ids(try await scene.askOn("/jobs?arguments=cat.JPG")) == ["one"])
        #expect(Set(ids(try await scene.askOn("/jobs?operation=ORK"))) == ["one", "two", "three"])
        #expect(ids(try await scene.askOn("/jobs?operation=rew")) == ["three"])
        #expect(try await scene.ask("/jobs").text.contains(#"<datalist id="operation-names"><option value="work">"#))
    }

    @Test func `an action without jobs leads back to the list with a message`() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"r","queue":"images"}"#)
        let forms = [
            [("action", "retry"), ("scope", "selected"), ("queue", "images")],
            [("action", "retry"), ("scope", "matching"), ("queue", "images"), ("state", "ready")],
            [("action", "delete"), ("scope", "matching"), ("queue", "images"), ("state", "finished")],
        ]
        for form in forms {
            let answer = try await scene.ask("/jobs/act", form)
            let place = try #require(answer.headers[.location])
            #expect(answer.status == 303 && place.hasPrefix("/errand/jobs?queue=images&"), "\(place)")
            let list = try await scene.ask(String(place.dropFirst("/errand".count)))
            #expect(list.status == 200 && list.text.contains("Nothing was done: "), "\(form)")
        }
    }

    @Test func `a filter that is not valid keeps what was typed`() async throws {
        let page = try await DashboardScene().ask("/jobs?since=yesterday&name=%3Ccat%3E&state=lost")
        #expect(page.status == 400)
        #expect(page.text.contains(#"name="since" value="yesterday""#))
        #expect(page.text.contains(#"name="name" value="&lt;cat&gt;""#))
        #expect(page.text.contains(#"name="state" value="""#))
    }
}

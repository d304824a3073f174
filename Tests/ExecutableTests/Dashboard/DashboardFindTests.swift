import Errand
import ErrandDashboard
import HTTPTypes
import TestSupport
import Testing

/// From an id to its job, and from a job to its worker.
@Suite struct DashboardFindTests {
    private func scene() async throws -> DashboardScene {
        let scene = try await DashboardScene()
        try await scene.push(
            #"{"operation":"work","id":"one","queue":"images"}"#,
            #"{"operation":"work","id":"two","queue":"files"}"#,
            #"{"operation":"work","id":"both","queue":"images","name":"cat.jpg"}"#,
            #"{"operation":"work","id":"both","queue":"files","name":"dog.jpg"}"#
        )
        return scene
    }

    @Test func everyPageAsksForAnID() async throws {
        let scene = try await scene()
        for path in ["/", "/jobs", "/workers", "/queues/images/jobs/one", "/runs/1"] {
            let page = try await scene.ask(path, as: .reading(as: "Bo")).text
            #expect(page.contains(#"method="get" action="/errand/find""#), "\(path)")
        }
    }

    @Test(arguments: [("one", "images"), ("two", "files"), ("%20one%0D%0A", "images")])
    func leadsToTheJob(_ id: String, _ queue: String) async throws {
        let answer = try await scene().ask("/find?id=\(id)", as: .reading(as: "Bo"))
        #expect(answer.status == 303, "\(answer.text)")
        #expect(answer.headers[.location] == "/errand/queues/\(queue)/jobs/\(id.contains("one") ? "one" : "two")")
    }

    @Test func listsTheJobsOfSeveralQueues() async throws {
        let answer = try await scene().ask("/find?id=both")
        #expect(answer.status == 200)
        for (queue, name) in [("images", "cat.jpg"), ("files", "dog.jpg")] {
            #expect(answer.text.contains(#"href="/errand/queues/\#(queue)/jobs/both">work</a>"#))
            #expect(answer.text.contains(name))
        }
    }

    @Test func reportsThatNoQueueHasIt() async throws {
        let answer = try await scene().ask("/find?id=three")
        #expect(answer.status == 404)
        #expect(answer.text.contains("no queue knows a job three"), "\(answer.text)")
    }

    @Test(arguments: ["", "id=", "id=a%20b", "id=%3Cb%3E", "id=..", "id=" + String(repeating: "a", count: 65)])
    func takesIDsOnly(_ query: String) async throws {
        let answer = try await DashboardScene().ask("/find?\(query)")
        #expect(answer.status == 400)
        #expect(answer.text.contains("is not a job"), "\(answer.text)")
    }

    @Test func aRunningJobLeadsToItsWorkerAndBack() async throws {
        let scene = try await scene()
        let worker = scene.desk.session.id
        let running = try await scene.desk.claim(1, from: "images").map(\.id)
        #expect(running == ["one"])
        let jobs = try await scene.ask("/jobs?queue=images").text
        let link = #">on <a href="/errand/workers#worker-\#(worker)">\#(worker)</a>"#
        #expect(jobs.matches(of: /workers#worker-/).count == 1 && jobs.contains(link), "\(jobs)")
        let workers = try await scene.ask("/workers").text
        #expect(workers.contains(#"<li class="worker" id="worker-\#(worker)">"#))
        let back = "/jobs?state=running&amp;worker=\(worker)"
        #expect(workers.contains(#"<a href="/errand\#(back)">1 of 8</a>"#), "\(workers)")
        let found = try await scene.ask(back.replacing("&amp;", with: "&")).text
        #expect(found.contains(">one</code>") && !found.contains(">both</code>"))
        #expect(found.contains(#"name="worker" value="\#(worker)""#))
        #expect(try await !scene.ask("/jobs?state=running&worker=another").text.contains(">one</code>"))
    }

    @Test func aDeadJobLeadsToNoWorker() async throws {
        let scene = try await scene()
        try await scene.desk.work(.failed, error: "odd", queue: "images")
        let dead = try await scene.ask("/jobs?state=dead").text
        #expect(dead.contains(">one</code>") && !dead.contains("workers#worker-"))
    }
}

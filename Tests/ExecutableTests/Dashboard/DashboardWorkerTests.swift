import Errand
import ErrandDashboard
import ErrandRedis
import TestSupport
import Testing

/// The page of workers.
@Suite struct DashboardWorkerTests {
    @Test func `a worker has what it runs, and for how long`() async throws {
        let scene = try await DashboardScene()
        try await scene.push(
            (0..<7).map { #"{"operation":"work","id":"j\#($0)","queue":"images","name":"cat <\#($0)>"}"# }
                .joined(separator: "\n")
        )
        #expect(try await scene.desk.claim(7, from: "images").count == 7)
        for path in ["/workers", "/queues/images"] {
            let page = try await scene.ask(path).text
            #expect(page.contains(#"<b class="title">desk.example</b> <span>pid 4711</span>"#), "\(path)")
            #expect(page.matches(of: /<li><span class="line"><a class="title"/).count == 5, "\(path)")
            #expect(page.contains("cat &lt;0&gt;") && page.contains("started <time"), "\(path)")
            #expect(!page.contains(">lost<"), "\(path)")
        }
    }

    @Test func `a worker has its start and its version`() async throws {
        let scene = try await DashboardScene()
        let session = Session(
            id: "versioned-session",
            host: "desk.example",
            pid: 4712,
            concurrency: 1,
            queues: ["images"],
            lease: .seconds(60),
            operations: [:],
            startedAt: 1_700_000_000_000,
            version: "2.1 <b>"
        )
        try await scene.desk.broker.register(session, on: "images")
        let page = try await scene.ask("/workers").text
        #expect(page.contains("version 2.1 &lt;b&gt;") && page.contains("2023-11-14T22:13:20"), "\(page)")
        let status = try await Executable.console.run(["status", "--json"], on: scene.server).text
        #expect(status.contains(#""started_ms":1700000000000,"version":"2.1 <b>""#), "\(status)")
    }

    @Test func `a worker without heartbeats is marked`() async throws {
        let scene = try await DashboardScene()
        let session = scene.desk.session.id
        for queue in ["images", "files"] {
            try scene.server.run("HSET", "errand:{\(queue)}:session:\(session)", "beat", "1")
        }
        let page = try await scene.ask("/workers").text
        #expect(page.contains(#"<li class="worker lost""#) && page.contains(">lost<"), "\(page)")
    }
}

import ErrandDashboard
import TestSupport
import Testing

/// Jobs found by their tags, in the dashboard and in the console.
@Suite struct DashboardTagTests {
    @Test func jobsAreFoundByTheirTags() async throws {
        let scene = try await DashboardScene()
        try await scene.push(
            #"{"operation":"work","id":"first-job","queue":"images","tags":["customer 17","<b>"]}"#,
            #"{"operation":"work","id":"other-job","queue":"images","tags":["customer 171"]}"#,
            #"{"operation":"work","id":"third-job","queue":"files"}"#
        )
        let all = try await scene.ask("/jobs").text
        #expect(all.contains(#"href="/errand/jobs?tag=customer%2017">customer 17</a>"#) && all.contains("&lt;b&gt;"))
        let found = try await scene.askOn("/jobs?tag=customer%2017")
        #expect(found.contains("first-job") && !found.contains("other-job") && !found.contains("third-job"))
        #expect(try await scene.ask("/queues/images/jobs/first-job").text.contains("customer 17, &lt;b&gt;"))

        let listed = try await Executable.console.run(["jobs", "--tag", "customer 17", "--json"], on: scene.server)
        #expect(try listed.objects.map { $0["id"] } == ["first-job"])
        #expect(try listed.objects.first?["tags"] == ["customer 17", "<b>"])
        #expect(try await Executable.console.run(["jobs", "--tag", ""], on: scene.server).status == 64)
        let shown = try await Executable.console.run(["job", "show", "first-job"], on: scene.server).text
        #expect(shown.contains("tags") && shown.contains("customer 17, <b>"))
    }

    @Test func endedJobsAreFoundByTheirTags() async throws {
        let scene = try await DashboardScene()
        try await scene.push(
            #"{"operation":"work","id":"first-job","queue":"images","tags":["customer 17"]}"#,
            #"{"operation":"work","id":"other-job","queue":"images"}"#
        )
        for id in ["first-job", "other-job"] {
            #expect(try await Executable.console.run(["job", "cancel", id], on: scene.server).status == 0)
        }
        let found = try await scene.askOn("/jobs?state=cancelled&tag=customer%2017")
        #expect(found.contains("first-job") && !found.contains("other-job"))
        #expect(found.contains(#"href="/errand/jobs?tag=customer%2017&amp;state=cancelled">customer 17</a>"#))
        #expect(try await scene.ask("/queues/images/jobs/first-job").text.contains("customer 17"))
    }

    @Test func theProducerTagsItsJobs() async throws {
        let scene = try await DashboardScene()
        let push = ["push", "work", "--tag", "a", "--tag", "b c", "--id", "tagged"]
        #expect(try await Executable.producer.run(push, on: scene.server).status == 0)
        let listed = try await Executable.console.run(["jobs", "--tag", "b c", "--json"], on: scene.server)
        #expect(try listed.objects.map { $0["id"] } == ["tagged"])
        let many = ["push", "work"] + (0..<9).flatMap { ["--tag", "\($0)"] }
        let refused = try await Executable.producer.run(many, on: scene.server)
        #expect(refused.status == 65 && refused.error.contains("at most 8"), "\(refused.error)")
    }
}

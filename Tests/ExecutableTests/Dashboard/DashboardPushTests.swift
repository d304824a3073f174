import Errand
import ErrandDashboard
import ErrandOperator
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The form that pushes a job.
@Suite struct DashboardPushTests {
    private static let form = [
        ("queue", "images"), ("operation", "work"), ("arguments", #"{"path":"a.jpg"}"#), ("name", "cat"),
        ("unique", "drop"), ("delay", "1h"), ("priority", "7"), ("timeout", "5m"), ("retries", "2"),
        ("group", "tenant-7/user-3"), ("cost", "5"), ("tags", "customer 17, , é"),
    ]

    @Test func `a job is pushed with all its values, and its page is shown`() async throws {
        let scene = try await DashboardScene()
        let before = Int64(Date().timeIntervalSince1970 * 1000)
        let answer = try await scene.ask("/push", Self.form)
        #expect(answer.status == 303, "\(answer.text)")
        let place = try #require(answer.headers[.location])
        #expect(place.hasPrefix("/errand/queues/images/jobs/"))
        #expect(try await scene.ask(String(place.dropFirst("/errand".count))).text.contains("This is the new job."))
        let record = try #require(
            try await scene.desk.broker.jobs(in: .scheduled, on: "images", from: 0, count: 2).jobs.first
        )
        let description = try #require(JobSummary(record, in: "images").stored?.description)
        #expect(description.name == "cat" && description.uniquenessPolicy == .drop && description.priority == 7)
        #expect(description.timeout == .seconds(300) && description.retries == 2)
        #expect(description.group == "tenant-7/user-3" && description.cost == 5)
        #expect(description.tags == ["customer 17", "é"])
        #expect(String(decoding: description.arguments.bytes, as: UTF8.self) == #"{"path":"a.jpg"}"#)
        let due = try #require(record.at)
        #expect(due >= before + 3_600_000 && due < before + 3_700_000)
        #expect(scene.log.lines.contains { $0.contains("action=push") && $0.contains("outcome=accepted as ") })
    }

    @Test(arguments: [
        ("operation", ""), ("operation", "a b"), ("queue", "a/b"), ("arguments", "{"), ("unique", "maybe"),
        ("delay", "soon"), ("priority", "10"), ("priority", "high"), ("timeout", "0s"), ("retries", "-1"),
        ("tags", "1,2,3,4,5,6,7,8,9"), ("group", "two words"), ("cost", "0"), ("cost", "x"),
    ]) func `a field that is not valid is a message, and what was typed stays`(_ field: (String, String)) async throws {
        let scene = try await DashboardScene()
        let form = Self.form.filter { $0.0 != field.0 } + [field]
        let answer = try await scene.ask("/push", form)
        #expect(answer.status == 400)
        #expect(answer.text.contains(#"<p class="notice bad" role="status">"#))
        let name = field.0 == "name" ? "retries" : "name"
        #expect(answer.text.contains(#"<input name="\#(name)" value="cat""#))
        let status = try await scene.desk.broker.status(of: "images").queue
        #expect(status.ready == 0 && status.scheduled == 0)
        #expect(scene.log.lines.contains { $0.contains("action=refused") && $0.contains("/push") })
    }

    @Test(arguments: [("work", "images", true), ("unheard", "images", false), ("work", "empty", false)])
    func `a job that no worker can run is pushed with a warning`(
        _ operation: String,
        _ queue: String,
        _ isKnown: Bool
    )
        async throws
    {
        let scene = try await DashboardScene()
        let answer = try await scene.ask("/push", [("operation", operation), ("queue", queue)])
        #expect(answer.status == 303)
        let place = try #require(answer.headers[.location]).dropFirst("/errand".count)
        let page = try await scene.ask(String(place)).text
        #expect(page.contains("This is the new job."))
        #expect(page.contains("No worker of the queue \(queue) has the operation \(operation)") == !isKnown)
    }

    @Test func `a name that is held is no success`() async throws {
        let scene = try await DashboardScene()
        #expect(try await scene.ask("/push", Self.form).status == 303)
        let again = try await scene.ask("/push", Self.form)
        #expect(again.status == 400 && again.text.contains("has its name"))
    }

    @Test func `the form suggests operations of live workers, and only users who may act see it`() async throws {
        let scene = try await DashboardScene()
        let page = try await scene.ask("/push?queue=images").text
        #expect(page.contains(#"<option value="work" label="in files, images">"#))
        #expect(page.contains(#"<input name="queue" value="images""#))
        #expect(try await scene.ask("/push", as: .reading(as: "Bo")).status == 403)
        #expect(try await scene.ask("/jobs", as: .reading(as: "Bo")).text.contains("/push") == false)
    }
}

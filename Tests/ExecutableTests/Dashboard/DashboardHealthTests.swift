import Errand
import ErrandDashboard
import ErrandOperator
import ErrandRedis
import Foundation
import HTTPTypes
import Logging
import TestSupport
import Testing

/// The dashboard's endpoints for other programs.
@Suite struct DashboardHealthTests {
    @Test func exportsTheBrokersCountersToPrometheus() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","queue":"images"}"#, #"{"operation":"work","queue":"images"}"#)
        try await scene.desk.work(.finished, queue: "images")
        let answer = try await scene.ask("/metrics")
        #expect(answer.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        let lines = answer.text.split(separator: "\n").map(String.init)
        #expect(lines.contains(#"errand_jobs{queue="images",state="ready"} 1"#))
        #expect(lines.contains(#"errand_events_total{queue="images",event="finished"} 1"#))
        #expect(lines.contains(#"errand_queue_workers{queue="images"} 1"#))
        #expect(lines.contains("errand_worker_slots 8"))
        #expect(lines.contains("# TYPE errand_events_total counter"))
    }

    @Test func isReadyWhileTheBrokerReplies() async throws {
        let scene = try await DashboardScene()
        #expect(try await scene.ask("/healthz", as: .none).text == "ok\n")
        #expect(try await scene.ask("/readyz", as: .none).status == 200)
        scene.server.kill(SIGKILL)
        #expect(try await scene.ask("/healthz", as: .none).status == 200)
        let answer = try await scene.ask("/readyz", as: .none)
        #expect(answer.status == 503)
        #expect(!answer.text.contains("/"), "the page shows the broker's address: \(answer.text)")
        #expect(try await scene.ask("/").status == 503)
    }

    @Test func advisesAutoscalers() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","queue":"images"}"#)
        let answer = try await scene.ask("/scale?queue=images&min=2&max=5&within=10s")
        let advice = try JSON(text: answer.text).object
        #expect(advice["queue"] == "images")
        #expect(advice["ready"] == 1)
        #expect(advice["workers"] == 1)
        #expect(advice["wanted_workers"] == 2)
        #expect(try await scene.ask("/scale").status == 404)
        let wrong = try await scene.ask("/scale?queue=images&max=many")
        #expect(wrong.status == 400)
        #expect(wrong.text == #"{"error":"max must be a whole number from 0 to 100000"}"# + "\n")
        #expect(try await scene.ask("/scale?queue=images&within=0s").status == 400)
    }

    @Test func `groups are part of the advice, and never labels of metrics`() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","queue":"files"}"#)
        for queue in ["files", "images"] {
            #expect(try await !scene.ask("/scale?queue=\(queue)").text.contains("groups"))
        }
        try await scene.desk.broker.setFlow("images", matching: "tenant-*", FlowRule(atOnce: 1))
        for number in 0..<25 {
            try await scene.push(#"{"operation":"work","queue":"images","group":"tenant-\#(number)"}"#)
        }
        try await scene.push(#"{"operation":"work","queue":"images","group":"tenant-7"}"#)
        let advice = try await scene.ask("/scale?queue=images").text
        let first = #""groups":[{"group":"tenant-7","waiting":2,"held":0,"limit":1,"resting_until_ms":null},"#
        #expect(advice.contains(first), "\(advice)")
        #expect(advice.matches(of: /"group":/).count == 20)
        #expect(try await !scene.ask("/metrics").text.contains("tenant"))
    }
}

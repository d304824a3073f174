import Errand
import ErrandDashboard
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Edits of a dead job under difficult conditions.
@Suite struct DashboardEditTests {
    private static let path = "/queues/images/jobs/j0/edit"
    private static let form = [
        ("description", #"{"operation":"work","queue":"images","arguments":{"path":"b.jpg"}}"#)
    ]

    private func dead() async throws -> DashboardScene {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"j0","queue":"images"}"#)
        try await scene.desk.work(.failed, error: "odd", queue: "images")
        return scene
    }

    private func count(_ state: JobState, _ scene: DashboardScene) async throws -> Int {
        try await scene.desk.broker.jobs(in: state, on: "images", from: 0, count: 500).jobs.count
    }

    @Test func aLostReplyIsNoRejectionAndARepetitionPushesNoSecondJob() async throws {
        let scene = try await dead()
        let proxy = try ChaosProxy(to: scene.server)
        defer { proxy.close() }
        let broker = try RedisBroker(url: proxy.url)
        defer { broker.close() }
        let dashboard = ErrandDashboard(broker: broker) { _ in .acting(as: "Ada") }
        proxy.treat { $0.contains("b.jpg") ? .loseAnswer : .pass }
        let lost = try await DashboardScene.ask(dashboard, Self.path, Self.form)
        #expect(lost.status == 503)
        #expect(lost.text.contains("may have been accepted"), "\(lost.text)")
        #expect(try await count(.dead, scene) == 1)

        proxy.treat { _ in .pass }
        #expect(try await DashboardScene.ask(dashboard, Self.path, Self.form).status == 303)
        #expect(try await count(.dead, scene) == 0)
        #expect(try await count(.ready, scene) == 1)
    }

    @Test func aJobThatWasRetriedMeanwhileIsReported() async throws {
        let scene = try await dead()
        let proxy = try ChaosProxy(to: scene.server)
        defer { proxy.close() }
        let broker = try RedisBroker(url: proxy.url)
        defer { broker.close() }
        let dashboard = ErrandDashboard(broker: broker) { _ in .acting(as: "Ada") }
        proxy.treat { $0.contains("\r\ndelete\r\n") ? .hold : .pass }
        async let asked = DashboardScene.ask(dashboard, Self.path, Self.form)
        try await until("the new job is pushed, and the dead one not deleted") { proxy.heldRequests > 0 }
        #expect(try await scene.desk.broker.retry(["j0"], on: "images") == [.retried])
        #expect(try await scene.desk.claim(from: "images").count == 2)
        proxy.release()

        let answer = try await asked
        #expect(answer.status == 303)
        let place = try #require(answer.headers[.location]?.removingPercentEncoding)
        #expect(place.contains("The new job is ready; the dead one had already been removed."), "\(place)")
        #expect(try await count(.running, scene) == 2)
    }
}

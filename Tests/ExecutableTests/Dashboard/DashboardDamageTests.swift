import HTTPTypes
import TestSupport
import Testing

/// The dashboard with a damaged queue.
@Suite struct DashboardDamageTests {
    private static let problem = "the key errand:{images}:scheduled is a string, which it must not be"

    private func damagedScene() async throws -> DashboardScene {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"one","queue":"images"}"#)
        try scene.server.run("SET", "errand:{images}:scheduled", "rubbish")
        return scene
    }

    @Test func `advice on scaling that needs damaged data is a failure of the server`() async throws {
        let scene = try await damagedScene()
        let answer = try await scene.ask("/scale?queue=images")
        #expect(answer.status == 500)
        #expect(answer.text.contains(Self.problem), "\(answer.text)")
        #expect(try await scene.ask("/scale?queue=files").status == 200)
    }

    @Test func `the page of a damaged queue names the queue and the key`() async throws {
        let page = try await damagedScene().ask("/queues/images")
        #expect(page.status == 200)
        #expect(page.text.contains("queue images cannot be read: "), "\(page.text)")
        #expect(page.text.contains(Self.problem), "\(page.text)")
        #expect(page.text.contains("are not shown while the queue cannot be read"), "\(page.text)")
        #expect(!page.text.contains("No workers.") && !page.text.contains("{{"), "\(page.text)")
    }

    @Test func `an action that damaged data prevents is a failure of the server`() async throws {
        let scene = try await damagedScene()
        try scene.server.run("DEL", "errand:{images}:settings")
        try scene.server.run("SET", "errand:{images}:settings", "rubbish")
        let answer = try await scene.ask("/queues/images/pause", [])
        #expect(answer.status == 500, "\(answer.text)")
    }
}

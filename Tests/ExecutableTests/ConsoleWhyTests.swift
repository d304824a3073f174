import Errand
import ErrandRedis
import TestSupport
import Testing

/// `errand why`.
@Suite struct ConsoleWhyTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func why(_ ids: String...) async throws -> Output {
        try await Executable.console.run(["why"] + ids + ["--json"], on: server)
    }

    private func reason(_ id: String) async throws -> String? { try await why(id).object["reason"]?.string }

    private func push(_ id: String, _ arguments: String...) async throws {
        let output = try await Executable.producer.run(["push", "work", "--id", id] + arguments, on: server)
        #expect(output.status == 0, "\(output.error)")
    }

    @Test func `every state has its reason`() async throws {
        try await push("alone")
        #expect(try await reason("alone") == "unroutable", "no worker serves the queue")
        let desk = try await Desk(server)
        let broker = desk.broker
        try await push("later", "--delay", "1h")
        try await push("strange")
        _ = try await Executable.producer.run(["push", "unknown.operation", "--id", "strange2"], on: server)
        #expect(try await reason("later") == "scheduled")
        #expect(try await reason("alone") == "behind")
        #expect(try await reason("strange2") == "unroutable")
        _ = try await broker.cancel(["strange"], on: "default")
        let ended = try await why("strange")
        #expect(ended.text.contains(#""reason":"ended","text":"cancelled"#), "\(ended.text)")
        try await broker.configure("default", QueueSettings(isPaused: true))
        #expect(try await reason("alone") == "paused")
        let missing = try await why("none")
        #expect(missing.status == 1 && missing.text.isEmpty)
    }

    @Test func `a job of a full group says which`() async throws {
        let desk = try await Desk(server)
        try await desk.broker.setFlow("default", matching: "tenant-*", FlowRule(atOnce: 1))
        for id in ["first", "second"] { try await push(id, "--group", "tenant-7/user-3") }
        let claims = try await desk.claim(1)
        #expect(claims.map(\.id) == ["first"])
        let output = try await why("second")
        #expect(
            output.text.hasSuffix(
                #""reason":"group_full","text":"group full: 1 of 1 jobs of tenant-7 are claimed, 1 wait"}"# + "\n"
            ),
            "\(output.text)"
        )
        #expect(try await reason("first") == "running")
        let shown = try await Executable.console.run(["job", "show", "second"], on: server)
        #expect(shown.text.contains("tenant-7/user-3"))
    }
}

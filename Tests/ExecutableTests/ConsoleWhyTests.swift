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

    @Test func `a job that is due says that no worker serves its queue, and one that expires before says so`()
        async throws
    {
        try await push("due", "--delay", "1ms")
        try await push("late", "--delay", "30d", "--expires", "10m")
        let due = try await why("due").object
        #expect(due["reason"] == "unroutable" && due["text"]?.string?.contains("no live worker serves queue") == true)
        let late = try await why("late").object
        #expect(late["reason"] == "scheduled")
        let words = try #require(late["text"]?.string)
        #expect(words.contains(" and will then end as expired (expiry in "), "\(words)")
    }

    @Test func `a lost worker serves no queue`() async throws {
        try await push("alone")
        let desk = try await Desk(server)
        #expect(try await reason("alone") == "behind")
        // As if its last heartbeat were a minute ago.
        let session = "errand:{default}:session:" + desk.session.id
        let beat = try #require(Int(try server.run("HGET", session, "beat")))
        try server.run("HSET", session, "beat", "\(beat - 60_000)")
        #expect(try await reason("alone") == "unroutable")
        let doctor = try await Executable.console.run(["doctor"], on: server)
        #expect(doctor.text.contains("no worker serves the queue: 1 waiting job"), "\(doctor.text)")
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

    @Test func `a job that a rate, a rest, an order or the whole queue holds back says so`() async throws {
        let desk = try await Desk(server)
        let broker = desk.broker
        try await broker.setFlow("default", matching: "api", FlowRule(rate: FlowRate(1, per: .seconds(3600))))
        try await broker.setFlow("default", matching: "account", FlowRule(order: .holdDead))
        for group in ["api", "account", "rest"] {
            for number in 1...2 { try await push("\(group)\(number)", "--group", group) }
        }
        let claims = try await desk.claim(3)
        #expect(claims.map(\.id).sorted() == ["account1", "api1", "rest1"])
        let resting = try #require(claims.first { $0.id == "rest1" })
        try await desk.report(resting, .groupRests, retryDelay: 3_600_000)
        let dead = try #require(claims.first { $0.id == "account1" })
        #expect(try await why("account2").text.contains("goes on after job account1, which is running"))
        try await desk.report(dead, .failed)
        #expect(try await reason("api2") == "rate")
        #expect(try await reason("rest2") == "resting")
        #expect(try await reason("account2") == "ordered")
        let words = try await why("account2").text
        #expect(words.contains("account1, which is dead; errand job retry or errand job delete"), "\(words)")
        try await push("plain")
        try await broker.setFlow("default", matching: "", FlowRule(atOnce: 1))
        #expect(try await reason("plain") == "queue_full")
    }
}

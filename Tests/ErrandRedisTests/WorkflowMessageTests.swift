import Errand
import TestSupport
import Testing

@testable import ErrandRedis

/// Messages about jobs of workflows between queues, which may come twice or late, and workflows that are forgotten.
@Suite struct WorkflowMessageTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let session = FullQueue.session("session-1")

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    /// Pushes a workflow of the queue `home`: `a` in the default queue, and `b` after it. Returns the workflow's id.
    private func push() async throws -> WorkflowID {
        let workflow = try WorkflowDescription(
            "flow",
            queue: "home",
            jobs: [
                .init("a", try OperationDescription("work", queue: "default", retries: 0)),
                .init("b", try OperationDescription("work", queue: "home"), after: ["a"]),
            ]
        )
        let receipt = try await Producer(broker: broker).push(workflow)
        return try #require(WorkflowID(receipt.workflow))
    }

    /// Pushes a workflow, and runs `a`, whose end the workflow's queue is not told yet.
    private func pushAndRun(_ outcome: OutcomeReport.Verb = .finished) async throws -> (id: WorkflowID, claim: Claim) {
        let id = try await push()
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        let claim = try #require(try await calls.claim(1).first)
        try await calls.report(claim, outcome)
        return (id, claim)
    }

    private func messages(of queue: String) async throws -> [[UInt8]] {
        let command = CommandWriter.command("LRANGE", "errand:{\(queue)}:workflow:hops", "0", "-1")
        return try await broker.command(command, for: .queue(queue)).elements?.compactMap(\.bytes) ?? []
    }

    private func add(_ message: [UInt8], to queue: String) async throws {
        var command = CommandWriter(capacity: message.count + 64)
        command.begin(3)
        command.add("RPUSH")
        command.add("errand:{\(queue)}:workflow:hops")
        command.add(message)
        _ = try await broker.command(command, for: .queue(queue))
        try await broker.deliver(from: queue)
        #expect(try await messages(of: queue).isEmpty)
    }

    @Test func `an audit finds a message that nobody delivers`() async throws {
        defer { broker.close() }
        _ = try await pushAndRun()
        #expect(try await broker.audit("default", repair: false).isEmpty)

        let message = try #require(try await messages(of: "default").first)
        try server.run("DEL", "errand:{default}:workflow:hops")
        let old =
            "1700000000000 " + String(decoding: message.drop { $0 != UInt8(ascii: " ") }.dropFirst(), as: UTF8.self)
        try server.run("RPUSH", "errand:{default}:workflow:hops", old)
        let found = try #require(try await broker.audit("default", repair: false).first)
        #expect([found.kind, found.subject] == ["message_not_delivered", "1 for other queues"])
        #expect(try #require(try await broker.audit("default", repair: true).first).repaired)
        #expect(try await broker.audit("default", repair: false).isEmpty)
        #expect(try await messages(of: "default").isEmpty)
    }

    @Test func `an audit finds a workflow whose push was broken off`() async throws {
        defer { broker.close() }
        let id = WorkflowID(queue: "default", token: "4fJ0aQ9bX2cD7eHk")
        _ = try await broker.begin(WorkflowHeader(id: id, name: "broken off"))
        #expect(try await broker.audit("default", repair: true).isEmpty)
        try server.run("ZADD", "errand:{default}:workflows:unsealed", "1700000000000", id.token)
        let found = try await broker.audit("default", repair: false)
        #expect(found.map(\.kind) == ["workflow_not_sealed"])
        #expect(try await broker.audit("default", repair: true).map(\.repaired) == [true])
        #expect(try await broker.workflow(id) == nil)
        #expect(try await broker.audit("default", repair: false).isEmpty)
    }

    @Test func `an audit finds a job that another queue has lost`() async throws {
        defer { broker.close() }
        let id = try await push()
        #expect(try await broker.audit("home", repair: false).isEmpty)
        // As a server whose last seconds were not saved.
        for key in try server.run("KEYS", "errand:{default}*").split(separator: "\n") {
            try server.run("DEL", String(key))
        }
        let found = try await broker.audit("home", repair: false)
        #expect(found.map(\.kind) == ["open_job_lost"])
        #expect(try await broker.audit("home", repair: true).map(\.repaired) == [true])
        #expect(try await broker.audit("home", repair: false).isEmpty)
        #expect(try await broker.members(of: id, from: 0, count: 2).map(\.state) == [.deleted, .skipped])
        #expect(try await broker.workflow(id)?.state == .failed)
    }

    @Test func `an audit finds a job of another queue whose end was lost on the way`() async throws {
        defer { broker.close() }
        let id = try await pushAndRun().id
        #expect(try await broker.audit("home", repair: false).isEmpty, "its message is on its way")
        try server.run("DEL", "errand:{default}:workflow:hops")
        #expect(try await broker.audit("home", repair: true).map(\.kind) == ["open_job_lost"])
        #expect(try await broker.members(of: id, from: 0, count: 2).map(\.state) == [.finished, .ready])
        #expect(try await broker.audit("home", repair: false).isEmpty)
    }

    @Test func `a message that comes twice changes nothing`() async throws {
        defer { broker.close() }
        let (id, claim) = try await pushAndRun()
        let end = try #require(try await messages(of: "default").first)
        try await broker.deliver(from: "default")
        #expect(try await broker.status(of: "home").queue.ready == 1)

        try await add(end, to: "default")
        #expect(try await broker.status(of: "home").queue.ready == 1)
        #expect(try await broker.workflow(id)?.open == 1)

        let arrival = Array("1 push default \(id.token) 0 \(claim.id) 4\n0 i ".utf8) + claim.body.dropFirst(13)
        try await add(arrival, to: "home")
        #expect(try await broker.status(of: "default").queue.ready == 0, "the job has run")
    }

    @Test func `a death that is told late does not stop a workflow that goes on`() async throws {
        defer { broker.close() }
        let id = try await pushAndRun(.failed).id
        let death = try #require(try await messages(of: "default").first)
        try await broker.deliver(from: "default")
        #expect(try await broker.workflow(id)?.state == .failed)
        #expect(try await broker.retry(id) == .changed(jobs: 1))
        #expect(try await broker.workflow(id)?.state == .running)

        try await add(death, to: "default")
        #expect(try await broker.workflow(id)?.state == .running)
    }

    @Test func `a message that cannot be read is reported, and stays`() async throws {
        defer { broker.close() }
        _ = try await push()
        try server.run("RPUSH", "errand:{home}:workflow:hops", "5 nonsense")
        let error = await #expect(throws: BrokerError.self) { try await broker.promote(on: "home") }
        #expect(error?.code == .protocolViolation)
        #expect(try await messages(of: "home").count == 1)
    }

    @Test func `a queue is deleted by force though other queues refuse to be told`() async throws {
        defer { broker.close() }
        let id = try await push()
        try server.run("RENAME", "errand:{home}:runtime", "kept")
        try server.run("SET", "errand:{home}:runtime", "text")
        #expect(try await broker.deleteQueue("default", force: true) == .deleted(jobs: 1))
        #expect(try await !broker.hasQueue("default"))
        try server.run("RENAME", "kept", "errand:{home}:runtime")
        #expect(try await broker.audit("home", repair: true).map(\.kind) == ["open_job_lost"])
        #expect(try await broker.workflow(id)?.state == .failed)
    }

    @Test func `a message that cannot be read does not keep a queue that is deleted by force`() async throws {
        defer { broker.close() }
        _ = try await push()
        try server.run("RPUSH", "errand:{default}:workflow:hops", "5 nonsense")
        #expect(try await broker.deleteQueue("default", force: true) == .deleted(jobs: 1))
        #expect(try await !broker.hasQueue("default"))
        #expect(try await broker.status(of: "home").queue.totals["skipped"] == 1)
    }

    @Test func `a workflow that is not sealed in time is forgotten, and an ended one after a day`() async throws {
        defer { broker.close() }
        let key = "errand:{home}:"
        let late = WorkflowID(queue: "home", token: "abcdefghijklmnop")
        #expect(try await broker.begin(WorkflowHeader(id: late, name: "late")) == .begun)
        let job = try OperationDescription("work", queue: "home", id: late.job(0)).makeEnvelope()
        try await broker.add([WorkflowMember(job: job, number: 0, key: "a", needs: [])], to: late, by: nil)
        let old = try await push()
        #expect(try await broker.cancel(old) == .changed(jobs: 2))
        try server.run("ZADD", key + "workflows:unsealed", "1", late.token)
        try server.run("ZADD", key + "workflows:ended", "1", old.token)
        while try await broker.promote(on: "home").nextDue == 0 {}
        let left = try server.run("KEYS", key + "*").split(separator: "\n").map { $0.dropFirst(key.count) }
        #expect(left.filter { $0.contains("workflow") || $0.contains(late.token) || $0.contains(old.token) } == [])
        #expect(try await broker.inspect([late.job(0)], on: "home") == [nil])
        #expect(try await broker.workflow(old) == nil)
    }
}

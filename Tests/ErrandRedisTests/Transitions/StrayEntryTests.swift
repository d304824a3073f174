import Errand
import ErrandRedis
import TestSupport
import Testing

/// Entries of ready lists and due sets without a job: a recently ended or dead job does not die again.
struct StrayEntryTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"
    private let session = FullQueue.session("session-1")

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private var strays: String { get throws { try server.run("HGET", key + "counters", "strays") } }

    /// Runs a job, whose id is then in one of the two generations of ended ids.
    private func finish(_ generation: String) async throws -> Calls {
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        _ = try await broker.push([OperationDescription("work", id: "job").makeEnvelope()], to: "default")
        try await calls.report(try #require(try await calls.claim(1).first), .finished)
        if generation != "ended" { try server.run("RENAME", key + "ended", key + generation) }
        return calls
    }

    private func expectNothingButItsEnd() async throws {
        #expect(try strays == "1")
        #expect(try server.run("EXISTS", key + "body", key + "dead", key + "ready:5", key + "scheduled") == "0")
        #expect(try await broker.inspect(["job"], on: "default")[0]?.state == .finished)
        #expect(try await broker.status(of: "default").queue.totals["dead"] == 0)
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test(arguments: ["ended", "ended:old"]) func anEntryOfAnEndedJobIsCountedAndRemoved(
        generation: String
    ) async throws {
        defer { broker.close() }
        var calls = try await finish(generation)
        try server.run("RPUSH", key + "ready:5", "job")
        #expect(try await calls.claim(5) == [])
        try await expectNothingButItsEnd()
    }

    @Test(arguments: ["ended", "ended:old"]) func aDueMemberOfAnEndedJobIsCountedAndRemoved(
        generation: String
    ) async throws {
        defer { broker.close() }
        _ = try await finish(generation)
        try server.run("ZADD", key + "scheduled", "1", "job")
        _ = try await broker.promote(on: "default")
        try await expectNothingButItsEnd()
    }

    @Test func anEntryWithoutAJobIsDeadOnceHoweverOftenItOccurs() async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        try server.run("RPUSH", key + "ready:5", "nobody")
        #expect(try await calls.claim(5) == [])
        let died = try #require(try await broker.inspect(["nobody"], on: "default")[0])
        #expect(died.state == .dead && died.lastError == "the stored job is missing; push it again")
        try server.run("RPUSH", key + "ready:5", "nobody", "nobody")
        #expect(try await calls.claim(5) == [])
        #expect(try strays == "2")
        #expect(try await broker.inspect(["nobody"], on: "default")[0] == died)
        let status = try await broker.status(of: "default").queue
        #expect(status.dead == 1 && status.totals["dead"] == 1 && status.ready == 0)
    }

    @Test(arguments: ["no id", String(repeating: "i", count: 65)]) func anEntryThatIsNoIDIsDead(
        entry: String
    ) async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        _ = try await broker.push([OperationDescription("work", id: "job").makeEnvelope()], to: "default")
        try server.run("HSET", key + "body", entry, try server.run("HGET", key + "body", "job"))
        try server.run("RPUSH", key + "ready:5", entry)
        #expect(try await calls.claim(5).map(\.id) == ["job"])
        #expect(try await broker.status(of: "default").queue.totals["dead"] == 1)
    }

    @Test(arguments: ["ended", "ended:old"], [OutcomeReport.Verb.finished, .failed, .released])
    func aJobThatRunsInTwoSessionsEndsOnce(generation: String, second: OutcomeReport.Verb) async throws {
        defer { broker.close() }
        _ = try await broker.push([OperationDescription("work", id: "job").makeEnvelope()], to: "default")
        try server.run("RPUSH", key + "ready:5", "job")
        var calls: [Calls] = []
        for name in ["session-1", "session-2"] {
            try await broker.register(FullQueue.session(name), on: "default")
            calls.append(Calls(broker: broker, session: FullQueue.session(name)))
        }
        let claims = [try await calls[0].claim(1), try await calls[1].claim(1)].flatMap(\.self)
        try #require(claims.map(\.id) == ["job", "job"])
        #expect(try await calls[0].report(claims[0], .finished))
        // After a minute an id is in the older generation.
        if generation != "ended" { try server.run("RENAME", key + "ended", key + generation) }
        #expect(try await !calls[1].report(claims[1], second, delay: second == .failed ? 1 : nil))
        #expect(try await broker.status(of: "default").queue.totals["finished"] == 1)
        #expect(
            try server.run("EXISTS", key + "body", key + "retrying", key + "ready:5", key + "claims:session-2") == "0"
        )
        #expect(try await broker.inspect(["job"], on: "default")[0]?.state == .finished)
    }

    @Test(arguments: ["ended", "ended:old"]) func oneThatEndedElsewhereEndsNotAgainWithOthers(
        generation: String
    ) async throws {
        defer { broker.close() }
        let other = FullQueue.session("session-2")
        for session in [session, other] { try await broker.register(session, on: "default") }
        let jobs = try ["job", "first", "last"].map { try OperationDescription("work", id: $0).makeEnvelope() }
        _ = try await broker.push(jobs, to: "default")
        var calls = Calls(broker: broker, session: other)
        let elsewhere = try #require(try await calls.claim(1).first)
        try server.run("LINSERT", key + "ready:5", "AFTER", "first", "job")
        let claims = try await broker.exchange(Calls.exchange(session, 1, [], wanted: 3), on: "default").claims
        try #require(claims.map(\.id) == ["first", "job", "last"] && elsewhere.id == "job")
        try await calls.report(elsewhere, .finished)
        if generation != "ended" { try server.run("RENAME", key + "ended", key + generation) }
        let reports = try Calls.finishes(of: claims)
        let reply = try await broker.exchange(Calls.exchange(session, 2, reports, wanted: 0), on: "default")
        #expect(reply.accepted == [true, false, true])
        #expect(try await broker.status(of: "default").queue.totals["finished"] == 3)
        #expect(try server.run("EXISTS", key + "body", key + "ready:5", key + "claims:session-1") == "0")
        #expect(try await broker.audit("default", repair: false) == [])
    }
}

import Errand
import ErrandRedis
import TestSupport
import Testing

/// Dead jobs are kept up to a limit, three here; beyond it the oldest is removed with its records.
struct DeadLimitTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"
    private let session = FullQueue.session("session-1")

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server, with: "DEAD_KEPT = 3\n", for: "DEAD_KEPT = 100000\n")
    }

    private func push(_ ids: [String]) async throws -> [Receipt.Outcome] {
        let jobs = try ids.map { try OperationDescription("work", id: $0).makeEnvelope() }
        return try await broker.push(jobs, to: "default").map(\.outcome)
    }

    /// A dead job with progress.
    private func die(_ id: String, _ calls: inout Calls) async throws {
        #expect(try await push([id]) == [.accepted])
        let claim = try #require(try await calls.claim(1).first)
        let note = JobUpdate(id: id, token: claim.token, progress: JobProgress(0.5), checkpoint: [0x31])
        #expect(try await broker.update(note, of: session, on: "default"))
        try await calls.report(claim, .failed)
    }

    /// The keys that contain a job.
    private func places(of id: String) throws -> [String] {
        try ["body", "failures", "errors", "progress", "checkpoints"].filter {
            try server.run("HEXISTS", key + $0, id) == "1"
        }
    }

    @Test func theOldestIsRemovedWithItsRecords() async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        for id in ["a", "b", "c"] { try await die(id, &calls) }
        // The oldest is neither the first nor the last that was pushed.
        try server.run("ZADD", key + "dead", "1", "b")
        for id in ["a", "b", "c"] { #expect(try places(of: id).count == 5) }
        try await die("d", &calls)
        #expect(try server.run("ZRANGE", key + "dead", "0", "-1") == "a\nc\nd")
        #expect(try places(of: "b") == [])
        for id in ["a", "c", "d"] { #expect(try places(of: id).count == 5) }
        #expect(try await broker.inspect(["b"], on: "default")[0]?.state == .deleted)
        #expect(try await push(["b"]) == [.exists], "its id is remembered")
        let status = try await broker.status(of: "default").queue
        #expect(status.dead == 3 && status.totals["dead"] == 4 && status.totals["dead_trimmed"] == 1)
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func theLimitHoldsIfManyDieAtOnce() async throws {
        defer { broker.close() }
        try await broker.register(session, on: "default")
        _ = try await push(["a", "b", "c", "d", "e"])
        let claims = try await broker.exchange(Calls.exchange(session, 1, [], wanted: 5), on: "default").claims
        let reports = try claims.map { claim in
            let fragment = try JobEnvelope.read(stored: claim.body).fragment
            return OutcomeReport(id: claim.id, token: claim.token, verb: .failed, attempt: 1, fragment: fragment)
        }
        let answer = try await broker.exchange(Calls.exchange(session, 2, reports, wanted: 0), on: "default")
        #expect(answer.accepted == [true, true, true, true, true])
        #expect(try server.run("ZRANGE", key + "dead", "0", "-1") == "c\nd\ne")
        for side in ["body", "failures", "errors"] { #expect(try server.run("HLEN", key + side) == "3", "\(side)") }
        #expect(try await broker.status(of: "default").queue.totals["dead_trimmed"] == 2)
        #expect(try await broker.audit("default", repair: false) == [])
    }
}

import Errand
import ErrandRedis
import TestSupport
import Testing

/// A server whose memory is full (`maxmemory`) accepts everything that ends jobs, is bounded in size, or is needed by
/// an operator for repairs, and rejects new jobs.
struct FullMemoryTests {
    private static let key = "errand:{default}:"

    /// A queue with data in every key, on a server that is full from then on.
    private func full(after prepare: (RedisServer) throws -> Void = { _ in }) async throws -> FullQueue {
        let stage = try await FullQueue()
        try prepare(stage.server)
        try stage.server.run("CONFIG", "SET", "maxmemory", "1")
        return stage
    }

    @Test func updatesAndReconciliationsAreAccepted() async throws {
        let stage = try await full()
        let broker = stage.broker
        defer { broker.close() }
        let claim = try stage.server.run("HGET", Self.key + "claims:sessionA", "running")
        let token = try #require(claim.split(separator: ":").first.flatMap { Token($0) })
        let note = JobUpdate(id: "running", token: token, progress: JobProgress(0.75), checkpoint: [0x32])
        #expect(try await broker.update(note, of: FullQueue.session, on: "default"))
        #expect(try await broker.checkpoint(of: "running", on: "default") == [0x32])
        let record = try #require(try await broker.inspect(["running"], on: "default")[0])
        #expect(record.progress == JobProgress(0.75))
        let answer = try await broker.reconcile(FullQueue.session, call: 1000, runs: [], on: "default")
        #expect(answer.released == 3 && answer.lost == [])
    }

    @Test func anOperatorCanPauseDeleteAndRepair() async throws {
        let stage = try await full()
        let broker = stage.broker
        defer { broker.close() }
        #expect(try await broker.pauseSchedule("ticking", on: "default"))
        #expect(try await broker.resumeSchedule("ticking", on: "default"))
        #expect(try await broker.deleteSchedule("paused", on: "default"))
        try stage.server.run("DEL", Self.key + "ready:9")
        let mended = try await broker.audit("default", repair: true)
        #expect(mended.contains { $0.kind == "body_without_position" } && mended.allSatisfy(\.repaired), "\(mended)")
        #expect(try stage.server.run("LRANGE", Self.key + "ready:9", "0", "-1") == "urgent")
        for isPaused in [true, false] {
            try await broker.configure("default", QueueSettings(isPaused: isPaused))
            #expect(try await broker.status(of: "default").queue.isPaused == isPaused)
        }
        #expect(try await broker.retry(["dead", "retry"], on: "default") == [.retried, .hurried])
        #expect(try await broker.cancel(["plain", "later"], on: "default") == [.cancelled, .cancelled])
        #expect(try await broker.clear("default") > 0)
    }

    @Test func aWorkerCanRegisterClaimReportAndRelease() async throws {
        let stage = try await full { server in
            // The session with claims has died, and two other jobs are due.
            try server.run("HDEL", Self.key + "runtime", "grace", "beat")
            try server.run("ZADD", Self.key + "sessions", "1", FullQueue.session.id)
            try server.run("ZADD", Self.key + "scheduled", "1", "later")
            try server.run("ZADD", Self.key + "retrying", "1", "retry")
        }
        let broker = stage.broker
        defer { broker.close() }
        #expect(try await broker.recover(on: "default").recovered == 3)
        #expect(try await broker.promote(on: "default").promoted == 2)
        let session = FullQueue.session("sessionB")
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        let claim = try #require(try await calls.claim(1).first)
        #expect(try await beat(of: session, broker).claims == 1)
        try await calls.report(claim, .failed)
        #expect(try await broker.inspect([claim.id], on: "default")[0]?.state == .dead)
        try await broker.release(session, on: "default")
        #expect(try await broker.status(of: "default").sessions.isEmpty)
    }

    private func beat(of session: Session, _ broker: RedisBroker) async throws -> Beat {
        let (beats, heard) = AsyncStream.makeStream(of: Result<Beat, BrokerError>.self)
        let heartbeat = broker.startHeartbeat(
            of: session,
            on: ["default"],
            every: .seconds(60),
            begun: { _ in 0 },
            onBeat: { heard.yield($1) }
        )
        defer { heartbeat.stop() }
        for await beat in beats { return try beat.get() }
        throw TestFailure("no beat")
    }

    @Test func nothingNewIsAccepted() async throws {
        let stage = try await full()
        let broker = stage.broker
        defer { broker.close() }
        let job = try OperationDescription("work", id: "new").makeEnvelope()
        let schedule = try FullQueue.schedule("new")
        let calls: [(String, () async throws -> Void)] = [
            ("push", { _ = try await broker.push([job], to: "default") }),
            ("schedule", { try await broker.put(schedule) }),
            ("tick", { _ = try await broker.runSchedule("ticking", on: "default") }),
            ("cursor", { try await broker.keep(EventCursor(epoch: 1, number: 2), of: "reader", on: "default") }),
        ]
        let before = try stage.dump()
        for (what, call) in calls {
            let error = await #expect(throws: BrokerError.self, "\(what)") { try await call() }
            #expect(error?.code == .full, "\(what)")
        }
        let after = try stage.dump()
        #expect(after == before)
    }
}

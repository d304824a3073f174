import Errand
import ErrandRedis
import TestSupport
import Testing

/// Cases that need the data of a real server.
struct TransitionEdgeTests {
    private let server: RedisServer
    private let broker: RedisBroker

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    @Test func aPushIntoAListOfTheWrongTypeWritesNothing() async throws {
        defer { broker.close() }
        try server.run("SET", "errand:{default}:ready:5", "not a list")
        let job = try OperationDescription("noop", id: "a")
        let error = await #expect(throws: BrokerError.self) { try await Producer(broker: broker).push(job) }
        #expect(error?.code == .refused)
        #expect(try server.run("EXISTS", "errand:{default}:body") == "0")
        try server.run("DEL", "errand:{default}:ready:5")
        #expect(try await Producer(broker: broker).push(job).outcome == .accepted)
    }

    @Test func aCallThatArrivesTooLateClaimsNothing() async throws {
        defer { broker.close() }
        let session = Session(
            id: "session-1",
            host: "h",
            pid: 1,
            concurrency: 1,
            queues: ["default"],
            lease: .seconds(30),
            operations: ["noop": OperationDefaults()]
        )
        try await broker.register(session, on: "default")
        _ = try await Producer(broker: broker).push(
            contentsOf: ["a", "b", "c"].map { try OperationDescription("noop", id: $0) }
        )
        for call in 1...2 { #expect(try await claim(call, session).count == 1) }
        let error = await #expect(throws: BrokerError.self) { try await claim(1, session) }
        #expect(error?.code == .refused)
        #expect(try await broker.status(of: "default").queue.ready == 1)
        #expect(try await claim(2, session).map(\.id) == ["b"], "the last call can still be sent again")
    }

    /// The script has its own copy of the default delays, because a stored header contains none.
    @Test(arguments: [0, 1, 20])
    func aRunPastItsHardDeadlineIsRetriedAfterTheDefaultDelay(_ failures: Int) async throws {
        defer { broker.close() }
        let key = "errand:{default}:"
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        let job = try OperationDescription("work", retries: 30, id: "job")
        _ = try await Producer(broker: broker).push(job)
        try server.run("HSET", key + "failures", "job", "\(failures)")
        var calls = Calls(broker: broker, session: session)
        let claim = try #require(try await calls.claim(1).first)
        try server.run("HSET", key + "claims:session-1", "job", "\(claim.token):1")
        // No outage is detected, however slow this machine is.
        try server.run("HDEL", key + "runtime", "grace", "beat")
        let before = try await broker.now(on: "default")
        #expect(try await broker.recover(on: "default").recovered == 1)
        let due = try #require(Int64(try server.run("ZSCORE", key + "retrying", "job")))
        let (after, delay) = (try await broker.now(on: "default"), Int64(RetryDelays().ceiling(ofRetry: failures + 1)))
        #expect((before + delay...after + delay).contains(due), "after \(due - before) ms instead of \(delay)")
    }

    private func claim(_ call: Int, _ session: Session) async throws -> [Claim] {
        let exchange = Exchange(
            session: session,
            call: call,
            reports: [],
            wanted: 1,
            freeSlots: 1,
            begun: 0,
            longestWait: .seconds(2),
            stopGrace: .seconds(2)
        )
        return try await broker.exchange(exchange, on: "default").claims
    }

    @Test func historyKeepsItsLimitWhenManyEndAtOnce() async throws {
        defer { broker.close() }
        for batch in 0..<24 {
            let jobs = try (0..<500).map { try OperationDescription("noop", id: "job-\(batch)-\($0)") }
            _ = try await Producer(broker: broker).push(contentsOf: jobs)
        }
        while try await broker.clear("default") > 0 {}
        #expect(try server.run("HLEN", "errand:{default}:history") == "10000")
        #expect(try server.run("LLEN", "errand:{default}:history:order") == "10000")
    }

    @Test func reconciliationComparesTokens() async throws {
        defer { broker.close() }
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        _ = try await Producer(broker: broker).push(OperationDescription("work", id: "job"))
        let token = try #require(try await claim(1, session).first).token
        // The worker also has the report of an older claim.
        for runs in [[token, token - 1], [token - 1, token]] {
            let answer = try await broker.reconcile(
                session,
                call: 1,
                runs: runs.map { (id: "job", token: $0) },
                on: "default"
            )
            #expect(answer.released == 0)
        }
        #expect(try await broker.status(of: "default").queue.running == 1)
    }

    @Test func aClientThatMayOnlyPublishCannotDispatchAJob() async throws {
        defer { broker.close() }
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        let (wakeUps, heard) = AsyncStream.makeStream(of: WakeUp.self)
        let subscription = broker.wakeUps(for: session, on: ["default"]) { heard.yield($0) }
        defer { subscription.cancel() }
        let job = try OperationDescription("work", id: "forged").makeEnvelope()
        let body = "1700000000000" + String(decoding: job.bytes, as: UTF8.self)
        var sent = 0
        for await wakeUp in wakeUps {
            // The first two messages confirm the subscriptions.
            if case .claimed = wakeUp { Issue.record("a forged job was claimed: \(wakeUp)") }
            sent += 1
            if sent == 2 {
                for word in ["c1 9007199254740991 forged", "c 1 9007199254740991 forged", "cguess 1 1 forged"] {
                    try server.run("PUBLISH", "errand:{default}:wakeups:session-1", word + "\n" + body)
                }
            }
            if sent == 5 { break }
        }
    }

    @Test func historyExpiresEvenIfNoJobEndsAnyMore() async throws {
        defer { broker.close() }
        try server.run("HSET", "errand:{default}:settings", "keep_ms", "500")
        _ = try await Producer(broker: broker).push(OperationDescription("noop", id: "first"))
        #expect(try await broker.cancel(["first"], on: "default") == [.cancelled])
        try await eventually("its record is gone", within: .seconds(10)) {
            try server.run("EXISTS", "errand:{default}:history", "errand:{default}:history:order") == "0"
        }
        // Its stored size does not count against the next record.
        try server.run("HSET", "errand:{default}:settings", "keep_ms", "60000")
        try server.run("HSET", "errand:{default}:runtime", "history_bytes", "99999999")
        _ = try await Producer(broker: broker).push(OperationDescription("noop", id: "second"))
        #expect(try await broker.cancel(["second"], on: "default") == [.cancelled])
        let record = try #require(try await broker.inspect(["second"], on: "default")[0])
        #expect(record.state == .cancelled && !record.lastEvent.isEmpty)
    }

    @Test func aLongerRetentionAppliesAtOnce() async throws {
        defer { broker.close() }
        _ = try await Producer(broker: broker).push(OperationDescription("noop", id: "first"))
        #expect(try await broker.cancel(["first"], on: "default") == [.cancelled])
        for (seconds, range) in [(1000, 900...1000), (200_000, 199_000...200_000)] {
            try await broker.configure("default", QueueSettings(keepHistoryMilliseconds: seconds * 1000))
            for key in ["history", "history:order"] {
                let left = Int(try server.run("TTL", "errand:{default}:\(key)")) ?? 0
                #expect(range.contains(left), "\(key): \(left) s")
            }
        }
    }

    @Test func aReplacementOfAJobInACorruptListIsReady() async throws {
        defer { broker.close() }
        _ = try await Producer(broker: broker).push(
            OperationDescription("unknown", name: "name", unique: .replace, id: "holder")
        )
        try server.run("LPOP", "errand:{default}:ready:5")
        for number in 0..<101 {
            try server.run("HSET", "errand:{default}:unroutable", "made-up-\(number)", "1")
            try server.run("RPUSH", "errand:{default}:unroutable:made-up-\(number)", "job-\(number)")
        }
        try server.run("HSET", "errand:{default}:unroutable", "unknown", "1")
        try server.run("SET", "errand:{default}:unroutable:unknown", "corrupt")
        let newer = try OperationDescription("noop", name: "name", unique: .replace, id: "newer")
        #expect(try await Producer(broker: broker).push(newer).outcome == .replaced)
        #expect(try server.run("LRANGE", "errand:{default}:ready:5", "0", "-1") == "newer")
    }
}

import Errand
import ErrandRedis
import TestSupport
import Testing

/// Transitions at the limits of a ready list, of a call and of the server.
struct TransitionLimitTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private var producer: Producer { Producer(broker: broker) }

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    @Test func aTombstoneDoesNotHideALaterJobOfItsID() async throws {
        defer { broker.close() }
        for batch in 0..<3 {
            let jobs = try (0..<400).map { try OperationDescription("noop", id: "job-\(batch)-\($0)") }
            _ = try await producer.push(contentsOf: jobs)
        }
        _ = try await producer.push(OperationDescription("noop", id: "again"))
        #expect(try await broker.cancel(["again"], on: "default") == [.cancelled])
        #expect(try server.run("HGET", "errand:{default}:tombstones", "again") == "1")
        // As if the ended ids had been forgotten.
        try server.run("DEL", "errand:{default}:ended", "errand:{default}:ended:old")
        _ = try await producer.push(OperationDescription("noop", priority: 9, id: "again"))

        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        let first = try await broker.exchange(Calls.exchange(session, 1, [], wanted: 1), on: "default")
        #expect(first.claims.map(\.id) == ["again"])
        let rest = try await broker.exchange(Calls.exchange(session, 2, [], wanted: 1500), on: "default")
        #expect(rest.claims.count == 1200)
        #expect(!rest.claims.contains { $0.id == "again" })
        #expect(try server.run("EXISTS", "errand:{default}:tombstones") == "0")
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func aCallThatFoundOnlyTombstonesReportsThatThereIsMore() async throws {
        defer { broker.close() }
        let ids = (0..<3200).map { "job-\($0)" }
        for start in stride(from: 0, to: ids.count, by: 400) {
            _ = try await producer.push(
                contentsOf: ids[start..<start + 400].map { try OperationDescription("noop", id: $0) }
            )
        }
        #expect(try await broker.cancel(Array(ids.prefix(2100)), on: "default").allSatisfy { $0 == .cancelled })
        #expect(try server.run("HLEN", "errand:{default}:tombstones") == "2100")
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        let first = try await broker.exchange(Calls.exchange(session, 1, [], wanted: 1), on: "default")
        #expect(first.claims.isEmpty && first.hasMore && !first.hasDueJobs)
        #expect(
            try server.run("SCARD", "errand:{default}:idle") == "0",
            "it has to call again, not to wait for a wake-up"
        )
        let second = try await broker.exchange(Calls.exchange(session, 2, [], wanted: 1), on: "default")
        #expect(second.claims.map(\.id) == ["job-2100"] && !second.hasMore)
    }

    @Test func manyDeadJobsAreRetriedInOrder() async throws {
        defer { broker.close() }
        let large = String(repeating: "x", count: 900_000)
        var asked: [String] = []
        for number in 0..<24 {
            let id = "job-\(number)"
            _ = try await producer.push(OperationDescription("noop", encoding: [number < 12 ? large : ""], id: id))
            try server.run("LPOP", "errand:{default}:ready:5")
            try server.run("ZADD", "errand:{default}:dead", "1", id)
            asked += [id, "never-\(number)", "not-\(number)", "none-\(number)"]
        }
        let outcomes = try await broker.retry(asked, on: "default")
        #expect(outcomes == asked.map { $0.hasPrefix("job-") ? .retried : .notFound })
        #expect(try server.run("LLEN", "errand:{default}:ready:5") == "24")
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func aCallPromotesFewerJobsIfTheyAreLarge() async throws {
        defer { broker.close() }
        let large = String(repeating: "x", count: 900_000)
        for number in 0..<20 {
            let future: Int64 = 4_000_000_000_000
            let job = try OperationDescription("noop", encoding: [large], notBefore: future, id: "job-\(number)")
            _ = try await producer.push(job)
            try server.run("ZADD", "errand:{default}:scheduled", "1", "job-\(number)")
        }
        let first = try await broker.promote(on: "default")
        #expect(first.promoted < 12)
        #expect(first.nextDue == 0, "there is more to do at once")
        var promoted = first.promoted
        while case let more = try await broker.promote(on: "default").promoted, more > 0 { promoted += more }
        #expect(promoted == 20)
        #expect(try await broker.status(of: "default").queue.ready == 20)
    }

    @Test func thousandsOfSessionsAreListedInPages() async throws {
        defer { broker.close() }
        for number in 0..<1203 {
            try server.run("ZADD", "errand:{default}:sessions", "\(4_000_000_000_000 + number)", "many-\(number)")
            try server.run("HSET", "errand:{default}:session:many-\(number)", "host", "h", "op:noop", "1")
            try server.run("HSET", "errand:{default}:claims:many-\(number)", "a", "1:1", "b", "1:1")
        }
        let (status, sessions) = try await broker.status(of: "default")
        #expect(Set(sessions.map(\.id)) == Set((0..<1203).map { "many-\($0)" }))
        #expect(sessions.count == 1203)
        #expect(sessions.allSatisfy { $0.host == "h" && $0.operations == ["noop"] && $0.running == 2 })
        #expect(status.running == 2406)
        let calls = try server.run("INFO", "commandstats").split(separator: "\n").first {
            $0.contains("cmdstat_zscan:")
        }
        #expect(calls?.contains("calls=2,") == true || calls?.contains("calls=3,") == true, "not a few hundred a call")
    }

    @Test func hundredsOfInventedOperationsAreCountedAndNotAllNamed() async throws {
        defer { broker.close() }
        _ = try await producer.push(OperationDescription("noop", id: "a"))
        for number in 0..<150 {
            try server.run("RPUSH", "errand:{default}:unroutable:made-up-\(number)", "job-\(number)")
            try server.run("HSET", "errand:{default}:unroutable", "made-up-\(number)", "1")
        }
        let status = try await broker.status(of: "default").queue
        #expect(status.ready == 151)
        #expect(status.unknownOperations.count == 100)
        // An invalid count must not lead to a negative number of jobs, or to an overflow.
        for number in 0..<150 {
            let garbage = number % 2 == 0 ? "-9000000000000000" : "9000000000000000"
            try server.run("HSET", "errand:{default}:unroutable", "made-up-\(number)", garbage)
        }
        #expect((151...150_000_000_000).contains(try await broker.status(of: "default").queue.ready))
    }

    @Test func aRepeatedReplyKeepsAWaitingSessionWaiting() async throws {
        defer { broker.close() }
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        let call = Calls.exchange(session, 1, [], wanted: 1)
        for _ in 0..<2 { #expect(try await broker.exchange(call, on: "default").hasMore == false) }
        // Its wake-up may have been lost with the reply.
        _ = try await producer.push(OperationDescription("work", id: "a"))
        let answer = try await broker.exchange(call, on: "default")
        #expect(answer.hasMore && answer.claims.isEmpty)
    }

    @Test func aServerThatRejectsWritesStillServesReads() async throws {
        defer { broker.close() }
        _ = try await producer.push(OperationDescription("noop", id: "a"))
        try server.run("CONFIG", "SET", "min-replicas-to-write", "1")
        await #expect(throws: BrokerError.self) { try await producer.push(OperationDescription("noop", id: "b")) }
        #expect(try await broker.status(of: "default").queue.ready == 1)
        #expect(try await broker.inspect(["a"], on: "default").first??.state == .ready)
        #expect(try await broker.schedules(on: "default").isEmpty)
        try server.run("CONFIG", "SET", "min-replicas-to-write", "0")
        #expect(try await producer.push(OperationDescription("noop", id: "b")).outcome == .accepted)
    }

    @Test func aHistoryWithoutItsOrderIsListedByItsTimes() async throws {
        defer { broker.close() }
        for id in ["b", "a"] {
            _ = try await producer.push(OperationDescription("noop", id: id))
            #expect(try await broker.cancel([id], on: "default") == [.cancelled])
        }
        let order = try server.run("LRANGE", "errand:{default}:history:order", "0", "-1")
        let bytes = try server.run("HGET", "errand:{default}:runtime", "history_bytes")
        try server.run("DEL", "errand:{default}:history:order")
        try server.run("HSET", "errand:{default}:runtime", "history_bytes", "123456789")
        #expect(try await broker.audit("default", repair: true).map(\.kind) == ["history_without_order"])
        let listed = try server.run("LRANGE", "errand:{default}:history:order", "0", "-1")
        #expect(Set(listed.split(separator: "\n")) == Set(order.split(separator: "\n")))
        #expect(try server.run("HGET", "errand:{default}:runtime", "history_bytes") == bytes)
    }

    @Test func aHeartbeatReturnsItsOwnStopsHoweverManyOthersThereAre() async throws {
        defer { broker.close() }
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        for id in ["mine", "spared"] { _ = try await producer.push(OperationDescription("work", id: id)) }
        var calls = Calls(broker: broker, session: session)
        #expect(try await calls.claim(2).count == 2)
        #expect(try await broker.cancel(["mine"], on: "default") == [.stopping])
        for number in 0..<1100 { try server.run("HSET", "errand:{default}:stops", "other-\(number)", "cancel") }
        for _ in 0..<5 { #expect(try await beat(session).stops.map(\.id) == ["mine"]) }
    }

    /// The reply to the first heartbeat.
    private func beat(_ session: Session) async throws -> Beat {
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

    @Test func theLongestLeaseCountsAmongAThousandShorterOnes() async throws {
        defer { broker.close() }
        func long(_ id: String) -> Session {
            Session(
                id: id,
                host: "here",
                pid: 1,
                concurrency: 1,
                queues: ["default"],
                lease: .seconds(600),
                operations: [:]
            )
        }
        for id in ["long-lived", "long-too"] { try await broker.register(long(id), on: "default") }
        for number in 0..<1005 {
            try server.run("HSET", "errand:{default}:session:short-\(number)", "lease", "2000")
        }
        // They end before it does; one more registers, and one ends.
        let now = try await broker.now(on: "default")
        for number in 0..<1005 {
            try server.run("ZADD", "errand:{default}:sessions", "\(now + 60_000)", "short-\(number)")
        }
        try await broker.register(FullQueue.session("another-1"), on: "default")
        #expect(try server.run("HGET", "errand:{default}:runtime", "lease") == "600000")
        try await broker.release(long("long-too"), on: "default")
        #expect(try server.run("HGET", "errand:{default}:runtime", "lease") == "600000")
    }

    @Test func oneCallClearsFewerJobsWhenTheyAreLarge() async throws {
        defer { broker.close() }
        let large = String(repeating: "x", count: 900_000)
        for number in 0..<36 {
            _ = try await producer.push(OperationDescription("noop", encoding: [large], id: "job-\(number)"))
        }
        let first = try await broker.clear("default")
        #expect((1..<36).contains(first))
        var cleared = first
        while case let more = try await broker.clear("default"), more > 0 { cleared += more }
        #expect(cleared == 36)
        #expect(try await broker.status(of: "default").queue.ready == 0)
    }

    @Test func tombstonesCountForTheLimit() async throws {
        defer { broker.close() }
        let jobs = try (0..<1001).map { try OperationDescription("noop", id: "job-\($0)") }
        for start in stride(from: 0, to: 1001, by: 500) {
            _ = try await producer.push(contentsOf: Array(jobs[start..<min(start + 500, 1001)]))
        }
        try await broker.configure("default", QueueSettings(maximumLength: 1001))
        #expect(try await broker.cancel(["job-7", "job-8"], on: "default") == [.cancelled, .cancelled])
        let more = try (0..<2).map { try OperationDescription("noop", id: "more-\($0)") }
        let error = await #expect(throws: BrokerError.self) { try await producer.push(contentsOf: more) }
        #expect(error?.code == .full)
        // A tombstone that reaches the head is removed.
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        for claim in try await calls.claim(10) { try await calls.report(claim, .finished) }
        #expect(try await producer.push(contentsOf: more).allSatisfy { $0.outcome == .accepted })
    }
}

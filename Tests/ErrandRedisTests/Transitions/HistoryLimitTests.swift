import Errand
import ErrandRedis
import TestSupport
import Testing

/// The limits of the history: 6,000 bytes of records here, and two generations of ten ids.
struct HistoryLimitTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"

    init() throws {
        server = try RedisServer()
        broker = try Self.broker(on: server, idsKept: 10)
    }

    private static func broker(on server: RedisServer, idsKept: Int) throws -> RedisBroker {
        try BrokenScripts.broker(
            on: server,
            changing: [
                .init(old: "= 10000, 67108864, 86400000\n", new: "= 10000, 6000, 86400000\n"),
                .init(old: "IDS_KEPT = 500000\n", new: "IDS_KEPT = \(idsKept)\n"),
            ]
        )
    }

    private func push(_ id: String) async throws -> Receipt.Outcome? {
        try await broker.push([OperationDescription("work", id: id).makeEnvelope()], to: "default").first?.outcome
    }

    private func finish(_ id: String, result bytes: Int, _ calls: inout Calls) async throws {
        #expect(try await push(id) == .accepted)
        let claim = try #require(try await calls.claim(1).first)
        try await calls.report(claim, .finished, result: String(repeating: "x", count: bytes))
    }

    private func registered() async throws -> Calls {
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        return Calls(broker: broker, session: session)
    }

    /// The bytes of all records, actual and stored.
    private func bytes() throws -> (stored: Int?, counted: Int?) {
        let sum = "local n = 0 for _, record in ipairs(redis.call('HVALS', KEYS[1])) do n = n + #record end return n"
        let stored = Int(try server.run("EVAL", sum, "1", key + "history"))
        return (stored, Int(try server.run("HGET", key + "runtime", "history_bytes")))
    }

    @Test func theOldestRecordsAreRemovedToMakeRoom() async throws {
        defer { broker.close() }
        var calls = try await registered()
        for number in 0..<10 {
            try await finish("job-\(number)", result: 1000, &calls)
            let (stored, counted) = try bytes()
            let all = try #require(stored)
            #expect(all <= 6000 && counted == all)
        }
        let kept = try server.run("HKEYS", key + "history").split(separator: "\n").map(String.init).sorted()
        // Five records fit; each is a little larger than its result.
        #expect(kept == (5..<10).map { "job-\($0)" })
        #expect(try server.run("LLEN", key + "history:order") == "5")
        let newest = try #require(try await broker.inspect(["job-9"], on: "default")[0])
        #expect(newest.state == .finished && newest.result.count == 1000)
        let oldest = try #require(try await broker.inspect(["job-0"], on: "default")[0])
        #expect(oldest.state == .finished && oldest.result.isEmpty && oldest.events.isEmpty)
    }

    @Test func aRecordThatIsWrittenAnewCountsOnce() async throws {
        defer { broker.close() }
        var calls = try await registered()
        for size in [1000, 300, 700] {
            try await finish("again", result: size, &calls)
            // As if its ended id had been forgotten.
            try server.run("DEL", key + "ended", key + "ended:old")
            let (stored, counted) = try bytes()
            #expect(stored != nil && stored == counted)
        }
    }

    @Test func aGenerationOfEndedIDsIsFullAtItsLimit() async throws {
        defer { broker.close() }
        // Not because of its age.
        try await broker.createQueue("default")
        try await broker.configure("default", QueueSettings(rememberIDsMilliseconds: 3_600_000))
        for number in 0..<21 {
            #expect(try await push("job-\(number)") == .accepted)
            #expect(try await broker.cancel(["job-\(number)"], on: "default") == [.cancelled])
            let newest = try server.run("HLEN", key + "ended")
            #expect(newest == String(number % 10 + 1))
        }
        #expect(try server.run("HLEN", key + "ended:old") == "10")
        #expect(try await push("job-20") == .exists)
        #expect(try await push("job-10") == .exists, "it is of the older generation")
        #expect(try await push("job-9") == .accepted, "two generations are all that is kept")
    }

    @Test func aGenerationBeginsAgainWhenTheClockWasSetBack() async throws {
        defer { broker.close() }
        #expect(try await push("job-0") == .accepted)
        #expect(try await broker.cancel(["job-0"], on: "default") == [.cancelled])
        let began = try server.run("HGET", key + "runtime", "ended_at")
        try server.run("HSET", key + "runtime", "ended_at", "9" + began)
        #expect(try await push("job-1") == .accepted)
        #expect(try await broker.cancel(["job-1"], on: "default") == [.cancelled])
        let beginsAgain = try #require(Int(try server.run("HGET", key + "runtime", "ended_at")))
        #expect(beginsAgain >= Int(began) ?? .max && beginsAgain < Int("9" + began) ?? 0)
        #expect(try await push("job-0") == .exists, "no id is forgotten for that")
    }

    /// Hashes that Redis has freed, or is about to free, in the background.
    private func freed() throws -> Int {
        let numbers = try server.run("INFO").split(whereSeparator: \.isNewline).filter { $0.hasPrefix("lazyfree") }
            .compactMap { $0.split(separator: ":").last.flatMap { Int($0) } }
        return numbers.reduce(0, +)
    }

    /// Many ids, because Redis frees a small hash at once.
    @Test func anOldGenerationIsFreedInTheBackground() async throws {
        broker.close()
        let broker = try Self.broker(on: server, idsKept: 600)
        defer { broker.close() }
        for round in 0..<3 {
            #expect(try freed() == 0, "two generations are all that is kept")
            let ids = (0..<600).map { "job-\(round)-\($0)" }
            _ = try await broker.push(
                ids.map { try OperationDescription("work", id: $0).makeEnvelope() },
                to: "default"
            )
            #expect(try await broker.cancel(ids, on: "default").allSatisfy { $0 == .cancelled })
        }
        #expect(try freed() == 1)
        #expect(try server.run("HLEN", key + "ended:old") == "600")
    }
}

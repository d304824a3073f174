import Errand
import ErrandRedis
import TestSupport
import Testing

/// Transitions with more large jobs than a call may read: several calls give the same result as one call with small
/// jobs.
struct LargeJobTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"
    private let session = FullQueue.session("session-1")
    private let ids = (10..<34).map { "job-\($0)" }

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private func push() async throws {
        let large = String(repeating: "x", count: 900_000)
        for id in ids {
            let job = try OperationDescription("work", encoding: [large], id: id).makeEnvelope()
            #expect(try await broker.push([job], to: "default").map(\.outcome) == [.accepted])
        }
    }

    /// Jobs that the session has claimed and does not know. No outage is detected, however slow this machine is.
    private func hold() async throws {
        try await push()
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        var held = 0
        while held < ids.count { held += try await calls.claim(ids.count).count }
        try server.run("HDEL", key + "runtime", "grace", "beat")
    }

    /// The number of script calls; one more if the server does not have the script yet.
    private func calls(_ act: () async throws -> Void) async throws -> Int {
        try server.run("CONFIG", "RESETSTAT")
        try await act()
        let line = try server.run("INFO", "commandstats").split(whereSeparator: \.isNewline).first {
            $0.hasPrefix("cmdstat_evalsha:")
        }
        return Int(line?.split { "=,".contains($0) }.dropFirst().first ?? "") ?? 0
    }

    /// Checks that the jobs are in their ready list as before, and that nothing is left of the session.
    private func expectAllInLine() async throws {
        #expect(try server.run("LRANGE", key + "ready:5", "0", "-1").split(separator: "\n").map(String.init) == ids)
        #expect(try server.run("EXISTS", key + "sessions", key + "session:session-1", key + "claims:session-1") == "0")
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func recoveryOfLargeJobsTakesSeveralCallsInOrder() async throws {
        defer { broker.close() }
        try await hold()
        try server.run("ZADD", key + "sessions", "1", session.id)
        var parts: [Int] = []
        while case let recovery = try await broker.recover(on: "default"), recovery.hasMore, parts.count < 20 {
            parts.append(recovery.recovered)
        }
        #expect(parts == [10, 10, 4], "8 MiB a call")
        try await expectAllInLine()
    }

    @Test func releaseOfLargeJobsTakesSeveralCallsInOrder() async throws {
        defer { broker.close() }
        try await hold()
        let count = try await calls { try await broker.release(session, on: "default") }
        #expect((3...4).contains(count), "\(count) calls")
        try await expectAllInLine()
        #expect(try await broker.status(of: "default").queue.totals["released"] == ids.count)
    }

    /// Two hundred exceed a small hash, so the jobs of one call are ordered by their ids.
    @Test func theOrderIsTheSameInAllCalls() async throws {
        defer { broker.close() }
        let large = String(repeating: "x", count: 100_000)
        let jobs = try (100..<300).map { number in
            try OperationDescription("work", encoding: [large], id: "job-\(number * 7919 % 1000)-\(number)")
                .makeEnvelope()
        }
        for start in stride(from: 0, to: jobs.count, by: 40) {
            _ = try await broker.push(Array(jobs[start..<start + 40]), to: "default")
        }
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        var expected: [String] = []
        while expected.count < jobs.count { expected += try await calls.claim(200).map(\.id).sorted() }
        try await broker.release(session, on: "default")
        let line = try server.run("LRANGE", key + "ready:5", "0", "-1").split(separator: "\n").map(String.init)
        #expect(line == expected)
    }

    @Test func reconciliationOfLargeJobsTakesSeveralCalls() async throws {
        defer { broker.close() }
        try await hold()
        var parts: [Int] = []
        while try server.run("EXISTS", key + "claims:session-1") == "1", parts.count < 20 {
            let call = Int(try server.run("HGET", key + "session:session-1", "call")) ?? 0
            parts.append(try await broker.reconcile(session, call: call, runs: [], on: "default").released)
        }
        #expect(parts == [10, 10, 4])
        try await broker.release(session, on: "default")
        try await expectAllInLine()
    }

    @Test func cancellingLargeJobsTakesSeveralCalls() async throws {
        defer { broker.close() }
        try await push()
        let asked = ids + ["nobody"]
        var outcomes: [EndingOutcome] = []
        let count = try await calls { outcomes = try await broker.cancel(asked, on: "default") }
        #expect((3...4).contains(count), "\(count) calls")
        #expect(outcomes == ids.map { _ in .cancelled } + [.notFound])
        #expect(try await broker.audit("default", repair: false) == [])
    }
}

import Errand
import ErrandRedis
import TestSupport
import Testing

/// Hundreds of invented operations whose jobs wait for a worker that will never come.
struct MadeUpOperationTests {
    private static let count = 1100

    private let server: RedisServer
    private let broker: RedisBroker

    init() async throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
        let jobs = try (0..<Self.count).map { try OperationDescription("made-up-\($0)", id: "job-\($0)") }
        _ = try await Producer(broker: broker).push(contentsOf: jobs)
        let session = FullQueue.session("who-finds-them")
        try await broker.register(session, on: "default")
        var (call, reports): (Int, [OutcomeReport]) = (0, [])
        repeat {
            call += 1
            let answer = try await broker.exchange(Calls.exchange(session, call, reports, wanted: 300), on: "default")
            reports = try answer.claims.map { claim in
                let fragment = try JobEnvelope.read(stored: claim.body).fragment
                return OutcomeReport(
                    id: claim.id,
                    token: claim.token,
                    verb: .unroutable,
                    attempt: 1,
                    fragment: fragment
                )
            }
        } while !reports.isEmpty
        try await broker.release(session, on: "default")
    }

    @Test func aSessionWithOneOfThemGetsItsJob() async throws {
        defer { broker.close() }
        let session = Session(
            id: "who-knows-one",
            host: "here",
            pid: 1,
            concurrency: 8,
            queues: ["default"],
            lease: .seconds(60),
            operations: ["made-up-7": OperationDefaults(), "other": OperationDefaults()]
        )
        try await broker.register(session, on: "default")
        let answer = try await broker.exchange(Calls.exchange(session, 1, [], wanted: 10), on: "default")
        #expect(answer.claims.map(\.id) == ["job-7"])
        #expect(try server.run("HEXISTS", "errand:{default}:unroutable", "made-up-7") == "0")
    }

    @Test func eachIsListedOnce() async throws {
        defer { broker.close() }
        var (ids, cursor): ([String], Int?) = ([], 0)
        while let from = cursor {
            let page = try await broker.jobs(in: .ready, on: "default", from: from, count: 300)
            ids += page.jobs.map(\.id)
            cursor = page.next
        }
        #expect(Set(ids) == Set((0..<Self.count).map { "job-\($0)" }))
        #expect(ids.count == Self.count)
    }

    @Test func allAreCleared() async throws {
        defer { broker.close() }
        var cleared = 0
        while case let some = try await broker.clear("default"), some > 0 { cleared += some }
        #expect(cleared == Self.count)
        #expect(try server.run("EXISTS", "errand:{default}:unroutable") == "0")
        #expect(try await broker.audit("default", repair: false).isEmpty)
    }
}

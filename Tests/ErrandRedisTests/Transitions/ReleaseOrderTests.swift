import Errand
import ErrandRedis
import TestSupport
import Testing

/// Released and recovered jobs return to the head of their ready list in their original order, even if there are more
/// than a hash keeps in order: older claims come first, and the jobs of one claim are ordered by id.
struct ReleaseOrderTests {
    /// The ways in which they return.
    enum Way: CaseIterable {
        case release, reconcile, recover

        /// The number of jobs in each of two claims. A hash of more than 512 has no order; recovery handles up to 400
        /// at once.
        var portion: Int { self == .recover ? 200 : 300 }
    }

    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"
    private let session = FullQueue.session("session-1")

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private func giveBack(_ way: Way) async throws {
        switch way {
        case .release: try await broker.release(session, on: "default")
        case .reconcile:
            let answer = try await broker.reconcile(session, call: 2, runs: [], on: "default")
            #expect(answer.released == 2 * way.portion && answer.lost == [])
        case .recover:
            // Its lease has ended, and no outage is detected.
            try server.run("ZADD", key + "sessions", "1", session.id)
            try server.run("HDEL", key + "runtime", "grace", "beat")
            #expect(try await broker.recover(on: "default").recovered == 2 * way.portion)
        }
    }

    @Test(arguments: Way.allCases) func releasedJobsKeepTheirOrder(way: Way) async throws {
        defer { broker.close() }
        // Ordered by id, those of the second claim would come first.
        let ids = ["b", "a"].flatMap { batch in (0..<way.portion).map { "\(batch)-\(1000 + $0)" } } + ["0-behind"]
        let jobs = try ids.map { try OperationDescription("work", id: $0).makeEnvelope() }
        _ = try await broker.push(jobs, to: "default")
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        for _ in 0..<2 { #expect(try await calls.claim(way.portion).count == way.portion) }
        try await giveBack(way)
        let line = try server.run("LRANGE", key + "ready:5", "0", "-1").split(separator: "\n").map(String.init)
        #expect(line == ids)
    }
}

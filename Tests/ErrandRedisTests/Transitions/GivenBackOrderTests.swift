import Errand
import ErrandRedis
import TestSupport
import Testing

/// Jobs that come back from a session are at the head of the line again, in the order in which they were there, also where they are
/// more than a hash keeps in order: what was claimed first goes first, and of one claim the ids tell.
struct GivenBackOrderTests {
    /// How they come back.
    enum Way: CaseIterable {
        case release, reconcile, recover

        /// How many jobs each of two claims brings. A hash of more than 512 is in no order; recovery takes back 400 at once.
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
            // Its lease has ended, and nobody thinks of an outage.
            try server.run("ZADD", key + "sessions", "1", session.id)
            try server.run("HDEL", key + "runtime", "grace", "beat")
            #expect(try await broker.recover(on: "default").recovered == 2 * way.portion)
        }
    }

    @Test(arguments: Way.allCases) func theyAreAtTheHeadAgainAsTheyWere(way: Way) async throws {
        defer { broker.close() }
        // By their ids, those of the second claim would come first.
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

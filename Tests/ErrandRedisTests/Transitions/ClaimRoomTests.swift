import Errand
import ErrandRedis
import TestSupport
import Testing

/// A call claims about 8 MiB of bodies, however many jobs are wanted; the next calls claim the others.
struct ClaimRoomTests {
    private let server: RedisServer
    private let broker: RedisBroker

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    /// Jobs of one level, and of two levels that take turns.
    @Test(arguments: [[5], [5, 7]]) func largeJobsComeInPortions(levels: [Int]) async throws {
        defer { broker.close() }
        let large = String(repeating: "x", count: 900_000)
        var waiting: [String] = []
        for number in 0..<20 {
            let level = levels[number % levels.count]
            let id = "\(level)-\(10 + number)"
            let job = try OperationDescription("work", encoding: [large], priority: level, id: id)
            #expect(try await Producer(broker: broker).push(job).outcome == .accepted)
            waiting.append(id)
        }
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        var portions: [[Claim]] = []
        while case let claims = try await calls.claim(20), !claims.isEmpty { portions.append(claims) }
        #expect(portions.count >= 2)
        for claims in portions {
            // The last one exceeded the limit.
            let before = claims.dropLast().reduce(0) { $0 + $1.body.count }
            #expect(before < 8 << 20, "\(portions.map(\.count))")
        }
        #expect((portions.first?.count ?? 0) >= 8, "a call is not wasted on a few")
        let came = portions.joined().map(\.id)
        #expect(came.count == 20 && Set(came) == Set(waiting))
        for level in levels {
            let isOfLevel = { (id: String) in id.hasPrefix("\(level)-") }
            #expect(came.filter(isOfLevel) == waiting.filter(isOfLevel), "in the order of the line")
        }
        #expect(try await broker.audit("default", repair: false) == [])
    }
}

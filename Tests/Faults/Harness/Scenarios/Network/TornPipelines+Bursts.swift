import Errand
import ErrandRedis
import TestSupport

extension TornPipelines {
    private static let burst = 20

    /// Many calls at once over one connection, which ends amid them, in each way so many times: what is answered is answered to whoever
    /// asked, and what is not is not lost.
    static func endure(_ play: Play, _ server: RedisServer, _ proxy: ChaosProxy, times: Int) async throws {
        let client = "fault-burst"
        let torn = TornPipelines(proxy, to: server, client: client)
        let broker = try play.connect(proxy.url, name: client)
        for _ in 0..<times {
            for way in Way.allCases {
                // Each body names its own id, so that an answer to another call shows.
                let known = try await play.push(burst, "mark") { $0.delay = 3000 }
                let before = torn.strikes
                torn.arm(way)
                try await askAndPush(play, broker, known)
                play.struck(torn.strikes - before, or: "no connection ended with \(way) while answers were to come")
            }
        }
        proxy.treat { _ in .pass }
        proxy.spoil { _, _ in nil }
        try await play.drain()
    }

    private static func askAndPush(_ play: Play, _ broker: RedisBroker, _ known: [String]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in known {
                group.addTask {
                    let record = try await play.insist { try await broker.inspect([id], on: Play.queue)[0] }
                    let body = String(decoding: record?.body ?? [], as: UTF8.self)
                    play.expect(body.contains(id), "asked for \(id), the broker answered \(body.prefix(100))")
                }
                group.addTask { try await play.push(1, "mark", via: broker) }
            }
            try await group.waitForAll()
        }
    }
}

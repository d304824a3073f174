import Errand
import ErrandRedis
import TestSupport

extension TornPipelines {
    private static let burst = 20

    /// Many concurrent calls over one connection, which breaks during them in several ways: each reply reaches its
    /// caller, and calls without a reply are not lost.
    static func endure(_ context: ScenarioContext, _ server: RedisServer, _ proxy: ChaosProxy, times: Int) async throws
    {
        let client = "fault-burst"
        let torn = TornPipelines(proxy, to: server, client: client)
        let broker = try context.connect(proxy.url, name: client)
        for _ in 0..<times {
            for way in Way.allCases {
                // Each body contains its own id, so that a reply to another call is noticed.
                let known = try await context.push(burst, "mark") { $0.delay = 3000 }
                let before = torn.injections
                torn.arm(way)
                try await askAndPush(context, broker, known)
                context.injected(
                    torn.injections - before,
                    or: "no connection ended with \(way) while answers were to come"
                )
            }
        }
        proxy.treat { _ in .pass }
        proxy.corrupt { _, _ in nil }
        try await context.drain()
    }

    private static func askAndPush(_ context: ScenarioContext, _ broker: RedisBroker, _ known: [String]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in known {
                group.addTask {
                    let record = try await context.insist {
                        try await broker.inspect([id], on: ScenarioContext.queue)[0]
                    }
                    let body = String(decoding: record?.body ?? [], as: UTF8.self)
                    context.expect(body.contains(id), "asked for \(id), the broker answered \(body.prefix(100))")
                }
                group.addTask { try await context.push(1, "mark", via: broker) }
            }
            try await group.waitForAll()
        }
    }
}

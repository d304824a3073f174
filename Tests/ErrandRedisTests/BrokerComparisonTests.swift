import Errand
import ErrandConformance
import ErrandRedis
import Logging
import TestSupport
import Testing

/// The same random transitions on both brokers give the same answers, events, totals and records.
@Suite("RedisBroker and MemoryBroker agree")
struct BrokerComparisonTests {
    private static let server = Result { try RedisServer() }

    @Test("on random histories", .timeLimit(.minutes(3)), arguments: UInt64(1)...20)
    func agree(seed: UInt64) async throws {
        let address = try RedisAddress(url: Self.server.get().url)
        let broker = RedisBroker(address, logger: Logger(label: "comparison"))
        defer { broker.close() }
        try await BrokerComparison(seed: seed).run(on: MemoryBroker(), and: broker)
    }
}

import Errand
import ErrandConformance
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// The conformance suites on a cluster of three masters, over which the queues of the cases spread.
@Suite("RedisBroker conforms on a cluster")
struct ClusterConformanceTests {
    private static let cluster = Result { try RedisCluster() }

    private func broker() throws -> RedisBroker {
        try RedisBroker(url: Self.cluster.get().url, logger: Logger(label: "cluster"))
    }

    /// Another queue of the same slot: the events of one server come in order.
    private static func neighbour(of queue: String) -> String {
        let slot = HashSlot.of(queue: queue)
        return (0...).lazy.map { "\(queue).\($0)" }.first { HashSlot.of(queue: $0) == slot } ?? queue
    }

    @Test("conforms", .timeLimit(.minutes(6)), arguments: ConformanceCase.allCases)
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        let broker = try broker()
        defer { broker.close() }
        try await conformanceCase.run(on: broker, neighbour: Self.neighbour)
    }

    @Test("workers conform", .timeLimit(.minutes(6)), arguments: WorkerCase.allCases)
    func workersConform(_ workerCase: WorkerCase) async throws {
        let broker = try broker()
        defer { broker.close() }
        try await workerCase.run(on: broker, neighbour: Self.neighbour)
    }
}

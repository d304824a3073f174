import Errand
import ErrandConformance
import ErrandRedis
import Logging
import TestSupport
import Testing

/// The conformance suite of workers on Redis.
@Suite("Workers on RedisBroker")
struct RedisWorkerTests {
    private static let server = Result { try RedisServer() }

    @Test("conforms", .timeLimit(.minutes(6)), arguments: WorkerCase.allCases)
    func conforms(_ workerCase: WorkerCase) async throws {
        let address = try RedisAddress(url: Self.server.get().url)
        let broker = RedisBroker(address, logger: Logger(label: "workers"))
        defer { broker.close() }
        try await workerCase.run(on: broker)
    }
}

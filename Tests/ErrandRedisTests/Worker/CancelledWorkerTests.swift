import Errand
import ErrandRedis
import Logging
import TestSupport
import Testing

/// A worker whose task is cancelled still has to report how its runs ended.
@Suite("Workers that are cancelled", .timeLimit(.minutes(6)))
struct CancelledWorkerTests {
    private let logger = Logger(label: "cancelled")

    @Test("a report that the server rejects for now is repeated")
    func reportsAgain() async throws {
        let server = try RedisServer()
        let broker = RedisBroker(try RedisAddress(url: server.url), logger: logger)
        defer { broker.close() }
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        // Finishes when it is told to stop.
        let stay = RegisteredOperation("stay", timeout: .seconds(600)) { (_: JobContext) async throws -> Void in
            begins.yield()
            for await _ in gate {}
        }
        let worker = Worker(
            broker: broker,
            // Longer than the server's failure: only after that does the worker stop in any case.
            configuration: WorkerConfiguration(stopGrace: .seconds(60)),
            operations: [stay],
            logger: logger
        )
        let running = Task { try await worker.run() }
        let id = try await Producer(broker: broker).push(OperationDescription("stay")).id
        for await _ in begun { break }
        try server.refuseWrites(true)
        running.cancel()
        let refused = try server.refusedWrites()
        try await eventually("its calls are refused") { try server.refusedWrites() > refused + 5 }
        try server.refuseWrites(false)
        try await running.value
        #expect(try await broker.inspect([id], on: "default")[0]?.state == .finished)
        opens.finish()
    }
}

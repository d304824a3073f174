import Errand
import ErrandRedis
import Foundation
import Logging
import TestSupport
import Testing

/// Workers that are to leave while the server takes calls and answers none.
@Suite("Workers that leave a hanging server", .timeLimit(.minutes(2)))
struct HangingBrokerTests {
    @Test(arguments: [false, true]) func itLeavesAllTheSame(_ holdsAJob: Bool) async throws {
        let server = try RedisServer()
        let logger = Logger(label: "hanging")
        // For longer than this test may take.
        let options = ConnectionOptions(commandTimeout: .seconds(600))
        let broker = RedisBroker(try RedisAddress(url: server.url), options: options, logger: logger)
        let (events, eventWriter) = AsyncStream.makeStream(of: String.self)
        let stay = RegisteredOperation("stay", timeout: .seconds(600)) { (_: JobContext) async throws -> Void in
            eventWriter.yield("begun")
            try await Task.sleep(for: .seconds(600))
        }
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(stopGrace: .milliseconds(300)),
            operations: [stay],
            logger: logger,
            onEvent: { event in
                switch event {
                case .registered: eventWriter.yield("registered")
                case .sessionLost: eventWriter.yield("lost")
                default: break
                }
            }
        )
        let running = Task { try await worker.run() }
        var heard = events.makeAsyncIterator()
        #expect(await heard.next() == "registered")
        if holdsAJob {
            _ = try await Producer(broker: broker).push(OperationDescription("stay"))
            #expect(await heard.next() == "begun")
        }
        server.kill(SIGSTOP)
        running.cancel()
        try await running.value
        eventWriter.finish()
        #expect(await heard.next() == nil, "it says that its session is lost, and does not know")
        server.kill(SIGCONT)
        broker.close()
    }
}

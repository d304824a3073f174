import Errand
import ErrandRedis
import Foundation
import Logging
import TestSupport
import Testing

/// Workers that stop while the server accepts calls and replies to none.
@Suite("Workers that stop while the server hangs", .timeLimit(.minutes(2)))
struct HangingBrokerTests {
    /// A call hangs for longer than this test may take, or fails repeatedly.
    @Test(arguments: [false, true], [Duration.seconds(600), .milliseconds(500)])
    func itStopsNevertheless(_ holdsAJob: Bool, _ timeout: Duration) async throws {
        let server = try RedisServer()
        let logger = Logger(label: "hanging")
        let options = ConnectionOptions(commandTimeout: timeout, patience: timeout)
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
        let running = Task {
            defer { eventWriter.yield("left") }
            try await worker.run()
        }
        var heard = events.makeAsyncIterator()
        #expect(await heard.next() == "registered")
        if holdsAJob {
            _ = try await Producer(broker: broker).push(OperationDescription("stay"))
            #expect(await heard.next() == "begun")
        }
        server.kill(SIGSTOP)
        running.cancel()
        // The time limit ends this wait, too; the worker itself would continue.
        #expect(await heard.next() == "left", "it says that its session is lost, and does not know; or it stays")
        server.kill(SIGCONT)
        broker.close()
        try await running.value
    }
}

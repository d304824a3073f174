import Errand
import Logging
import Synchronization
import Testing

/// What a worker makes of a broker whose connections fail one by one.
@Suite("Workers whose broker is in trouble", .timeLimit(.minutes(6)))
struct TroubledWorkerTests {
    private static let queue = "trouble"

    @Test("a session that is lost while calls cannot be made is no reason to end")
    func losesItsSessionUnreachable() async throws {
        let broker = TroubledBroker()
        let (registered, registers) = AsyncStream.makeStream(of: Void.self)
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue)]),
            operations: [RegisteredOperation("noop", handler: .blocking { _ in .finished() })],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() },
            onEvent: { if case .registered = $0 { registers.yield() } }
        )
        var registrations = registered.makeAsyncIterator()
        let work = Task {
            defer { registers.finish() }
            try await worker.run()
        }
        try #require(await registrations.next() != nil, "it did not register")
        broker.fail(with: BrokerError(.notReachable, "no connection"))
        _ = try await Producer(broker: broker.memory).push(OperationDescription("noop", queue: Self.queue))
        while broker.failures == 0 { try await Task.sleep(for: .milliseconds(2)) }
        // The heartbeat has a connection of its own, which is there again before the others.
        broker.tell(Self.queue, .failure(BrokerError(.sessionLost, "the session is not registered")))
        try #require(await registrations.next() != nil, "it ended")
        broker.fail(with: nil)
        while try await broker.memory.status(of: Self.queue).queue.totals["finished"] == 0 {
            try await Task.sleep(for: .milliseconds(2))
        }
        work.cancel()
        try await work.value
    }

    @Test("no call denies that jobs have begun for which there were free slots: a crash of theirs would not be counted")
    func tellsWhatHasBegun() async throws {
        let broker = TroubledBroker()
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue)], concurrency: 2),
            operations: [RegisteredOperation("noop") { _ in _ = begins.yield() }],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let work = Task { try await worker.run() }
        let jobs = try (0..<500).map { _ in try OperationDescription("noop", queue: Self.queue) }
        _ = try await Producer(broker: broker.memory).push(contentsOf: jobs)
        var count = 0
        for await _ in begun {
            count += 1
            if count == jobs.count { break }
        }
        #expect(broker.denials == 0)
        work.cancel()
        try await work.value
    }

    @Test("a worker that may not claim ends, and says why, although its heartbeats are permitted")
    func mayNotClaim() async throws {
        let broker = TroubledBroker()
        broker.fail(with: BrokerError(.notPermitted, "no permission"))
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue)]),
            operations: [RegisteredOperation("noop") { _ in }],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let error = await #expect(throws: BrokerError.self) { try await worker.run() }
        #expect(error?.code == .notPermitted)
    }

    @Test("a worker that meets only places of jobs that left goes on at once, however many there are")
    func goesOnBehindWhatLeft() async throws {
        let broker = TroubledBroker()
        broker.findNothing(times: 100)
        _ = try await Producer(broker: broker.memory).push(OperationDescription("noop", queue: Self.queue))
        let (ran, runs) = AsyncStream.makeStream(of: Void.self)
        let worker = Worker(
            broker: broker,
            // A pause that began anew a hundred times would take longer than this test may.
            configuration: WorkerConfiguration(queues: [.init(Self.queue)], longestPoll: .seconds(3600)),
            operations: [RegisteredOperation("noop") { _ in _ = runs.yield() }],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let work = Task { try await worker.run() }
        for await _ in ran { break }
        work.cancel()
        try await work.value
    }
}

import Errand
import Foundation
import InMemoryLogging
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// Workers on a broker whose connections fail one by one.
@Suite("Workers and failing calls", .timeLimit(.minutes(6)))
struct TroubledWorkerTests {
    private static let queue = "trouble"

    @Test("a session that is lost during an outage does not end the worker")
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
        try await eventually("a call fails") { broker.failures[Self.queue] != nil }
        // The heartbeat has its own connection, which is restored before the others.
        broker.tell(Self.queue, .failure(BrokerError(.sessionLost, "the session is not registered")))
        try #require(await registrations.next() != nil, "it ended")
        broker.fail(with: nil)
        try await eventually("the job has finished") {
            try await broker.memory.status(of: Self.queue).queue.totals["finished"] == 1
        }
        work.cancel()
        try await work.value
    }

    @Test("no call withdraws the begun mark of jobs that had free slots")
    func keepsTheBegunMark() async throws {
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

    @Test("a worker that may not claim ends with the reason, even if its heartbeats are permitted")
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

    @Test("a heartbeat that is not permitted lets running jobs end")
    func endsItsJobsAlthoughItIsRefused() async throws {
        let broker = TroubledBroker()
        let (_, work, opens) = try await startWithAJobThatWaits(broker, beside: "idle")
        broker.tell(Self.queue, .failure(BrokerError(.notPermitted, "the password was changed")))
        opens.finish()
        await #expect(throws: BrokerError.self) { try await work.value }
        #expect(try await broker.memory.status(of: Self.queue).queue.totals["finished"] == 1)
    }

    @Test("a worker that stops while its broker does not answer lets its jobs end and reports that")
    func leavesWithoutAnAnswer() async throws {
        let broker = TroubledBroker()
        let (group, work, opens) = try await startWithAJobThatWaits(broker, beside: "idle")
        let producer = Producer(broker: broker.memory)
        broker.fail(with: BrokerError(.notReachable, "no connection"))
        for queue in [Self.queue, "idle"] {
            _ = try await producer.push(OperationDescription("other", queue: queue))
            try await eventually("a call for \(queue) fails") { broker.failures[queue] != nil }
        }
        await group.triggerGracefulShutdown()
        try await comeFailures(4, of: Self.queue, broker)
        opens.finish()
        broker.fail(with: nil)
        try await work.value
        let queue = try await broker.memory.status(of: Self.queue).queue
        #expect(queue.totals["finished"] == 1)
        #expect(queue.totals["recovered"] == 0 && queue.running == 0)
    }

    @Test(
        "a worker that leaves does not keep jobs from others of which it has not heard, while it waits for those that run"
    )
    func releasesUndeliveredClaims() async throws {
        let broker = TroubledBroker()
        let (group, work, opens) = try await startWithAJobThatWaits(broker, beside: "unheard")
        let producer = Producer(broker: broker.memory)
        broker.loseWakeUps()
        broker.loseReplies(of: "unheard")
        _ = try await producer.push(OperationDescription("wait", queue: "unheard"))
        try await eventually("the other job is claimed") {
            try await broker.memory.status(of: "unheard").queue.running == 1
        }
        await group.triggerGracefulShutdown()
        try await comeFailures(2, of: "unheard", broker)
        broker.loseReplies(of: nil)
        try await eventually("the other job is ready again") {
            try await broker.memory.status(of: "unheard").queue.ready == 1
        }
        #expect(try await broker.memory.status(of: Self.queue).queue.running == 1)
        opens.finish()
        try await work.value
        #expect(try await broker.memory.status(of: Self.queue).queue.totals["finished"] == 1)
    }

    /// Delays the creation of runs for more claims than are begun together, until one of those has run.
    private final class OnceOneHasRun: JobMiddleware {
        let hasRun = DispatchSemaphore(value: 0)
        private let claims = Atomic(0)

        func claimedJob(_ job: JobContext) {
            guard claims.add(1, ordering: .relaxed).newValue == 100 else { return }
            _ = hasRun.wait(timeout: .now() + .seconds(2))
        }
    }

    @Test("a worker that is stopping does not start jobs that a call in progress brings")
    func beginsNothingOnItsWayOut() async throws {
        let broker = TroubledBroker()
        let runs = Atomic(0)
        let middleware = OnceOneHasRun()
        let operation = RegisteredOperation(
            "noop",
            handler: .blocking { _ in
                runs.add(1, ordering: .relaxed)
                middleware.hasRun.signal()
                return .finished()
            }
        )
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue)], concurrency: 200),
            operations: [operation],
            middleware: [middleware],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        broker.hold(Self.queue)
        let work = Task { try await worker.run() }
        try await eventually("its first call is on its way") { broker.heldCalls > 0 }
        let jobs = try (0..<200).map { _ in try OperationDescription("noop", queue: Self.queue) }
        _ = try await Producer(broker: broker.memory).push(contentsOf: jobs)
        work.cancel()
        broker.hold(nil)
        try await work.value
        #expect(runs.load(ordering: .relaxed) == 0)
        let queue = try await broker.memory.status(of: Self.queue).queue
        #expect(queue.ready == jobs.count && queue.totals["released"] > 0)
    }

    /// A worker of two queues with a job that runs until `opens` is finished.
    private func startWithAJobThatWaits(
        _ broker: TroubledBroker,
        beside other: String
    ) async throws -> (group: ServiceGroup, work: Task<Void, any Error>, opens: AsyncStream<Void>.Continuation) {
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue), .init(other)], concurrency: 4),
            operations: [
                RegisteredOperation("wait") { _ in
                    begins.yield()
                    for await _ in gate {}
                    try Task.checkCancellation()
                }
            ],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let group = ServiceGroup(services: [worker], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
        let work = Task { try await group.run() }
        _ = try await Producer(broker: broker.memory).push(OperationDescription("wait", queue: Self.queue))
        for await _ in begun { break }
        return (group, work, opens)
    }

    /// Waits for more calls to fail.
    private func comeFailures(_ count: Int, of queue: String, _ broker: TroubledBroker) async throws {
        let before = broker.failures[queue, default: 0]
        try await eventually("\(count) more calls for \(queue) fail") {
            broker.failures[queue, default: 0] >= before + count
        }
    }

    @Test("queues without jobs that share few slots are polled less and less often")
    func restsWithManyQueues() async throws {
        let broker = TroubledBroker()
        let queues = (0..<60).map { "empty\($0)" }
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(
                queues: queues.map { .init($0) },
                concurrency: 2,
                longestPoll: .seconds(3600)
            ),
            operations: [RegisteredOperation("noop") { _ in }],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let start = ContinuousClock.now
        let work = Task { try await worker.run() }
        try await eventually("every queue was asked, for a second") {
            broker.calls.count == queues.count && ContinuousClock.now - start >= .seconds(1)
        }
        let most = broker.calls.values.max() ?? 0
        // After 1, 2, 4, … ms.
        let pauses = log2((ContinuousClock.now - start) / .milliseconds(1))
        #expect(Double(most) <= pauses + 3)
        work.cancel()
        try await work.value
    }

    @Test("a job that ends during a reconciliation is not released")
    func endsWhileReconciling() async throws {
        let broker = TroubledBroker()
        let count = 50_000
        let runs = Atomic(0)
        let finished = Atomic(false)
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue)], concurrency: 4),
            operations: [
                RegisteredOperation(
                    "noop",
                    handler: .blocking { _ in
                        runs.add(1, ordering: .relaxed)
                        return .finished()
                    }
                )
            ],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let jobs = try (0..<count).map { _ in try OperationDescription("noop", queue: Self.queue) }
        _ = try await Producer(broker: broker.memory).push(contentsOf: jobs)
        let work = Task { try await worker.run() }
        // Heartbeats with wrong counts: the worker reconciles after every call.
        let doubts = Task {
            while !finished.load(ordering: .relaxed) {
                broker.tell(Self.queue, .success(Beat(claims: .max, stops: [])))
                await Task.yield()
            }
        }
        try await eventually("the jobs have finished") {
            try await broker.memory.status(of: Self.queue).queue.totals["finished"] == count
        }
        finished.store(true, ordering: .relaxed)
        await doubts.value
        work.cancel()
        try await work.value
        #expect(runs.load(ordering: .relaxed) == count)
    }

    @Test("a rejected call is repeated until it is accepted, with one warning")
    func reportsRejection() async throws {
        let broker = TroubledBroker()
        let log = InMemoryLogHandler()
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue)]),
            operations: [RegisteredOperation("noop") { _ in }],
            logger: Logger(label: "worker") { _ in log }
        )
        let work = Task { try await worker.run() }
        try await eventually("it works") { broker.calls[Self.queue] != nil }
        broker.fail(with: BrokerError(.refused, "a key of the queue has the wrong type"))
        _ = try await Producer(broker: broker.memory).push(OperationDescription("noop", queue: Self.queue))
        try await eventually("it was rejected again") { (broker.failures[Self.queue] ?? 0) > 2 }
        broker.fail(with: nil)
        try await eventually("the job has finished") {
            try await broker.memory.status(of: Self.queue).queue.totals["finished"] == 1
        }
        work.cancel()
        try await work.value
        let logged = log.entries.filter { $0.level >= .notice && "\($0.message)".contains("call") }
        #expect(logged.map(\.level) == [.warning, .notice])
        let reason = logged.first?.metadata["error"]?.description ?? ""
        #expect(reason.contains("wrong type"))
    }

    @Test("a worker that finds only tombstones calls again at once, however many there are")
    func goesOnBehindWhatLeft() async throws {
        let broker = TroubledBroker()
        broker.findNothing(times: 100)
        _ = try await Producer(broker: broker.memory).push(OperationDescription("noop", queue: Self.queue))
        let (ran, runs) = AsyncStream.makeStream(of: Void.self)
        let worker = Worker(
            broker: broker,
            // A pause that restarted a hundred times would take longer than this test may.
            configuration: WorkerConfiguration(queues: [.init(Self.queue)], longestPoll: .seconds(3600)),
            operations: [RegisteredOperation("noop") { _ in _ = runs.yield() }],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let work = Task { try await worker.run() }
        for await _ in ran { break }
        work.cancel()
        try await work.value
    }

    @Test("a session that one queue has lost keeps its lease on the other until its jobs are released")
    func keepsBeatingUntilReleased() async throws {
        let broker = TroubledBroker()
        var configuration = WorkerConfiguration(queues: [.init(Self.queue), .init("other")])
        configuration.stopGrace = .milliseconds(200)
        let worker = Worker(
            broker: broker,
            configuration: configuration,
            operations: [RegisteredOperation("noop", handler: .blocking { _ in .finished() })],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let work = Task { try await worker.run() }
        try await eventually("it works") { broker.calls["other"] != nil }
        broker.tell(Self.queue, .failure(BrokerError(.sessionLost, "the session is not registered")))
        try await eventually("its heart has stopped") { broker.ends.contains("silent") }
        #expect(broker.ends.prefix(3).last == "silent", "\(broker.ends)")
        #expect(Set(broker.ends.prefix(2)) == ["released \(Self.queue)", "released other"])
        work.cancel()
        try await work.value
    }
}

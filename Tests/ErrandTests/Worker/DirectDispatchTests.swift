import Errand
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// Jobs that pushes dispatch directly to a worker.
@Suite("Direct dispatch over Redis", .timeLimit(.minutes(6)))
struct DirectDispatchTests {
    private static let queue = "dispatched"
    private let broker = TroubledBroker()

    private func worker(
        queues: [String] = [queue],
        concurrency: Int = 2,
        longestPoll: Duration = .milliseconds(500),
        _ handler: @escaping @Sendable (JobContext) async throws -> Void
    ) -> Task<Void, any Error> {
        let worker = made(queues: queues, concurrency: concurrency, longestPoll: longestPoll, handler)
        return Task { try await worker.run() }
    }

    private func made(
        queues: [String] = [queue],
        concurrency: Int = 2,
        longestPoll: Duration,
        _ handler: @escaping @Sendable (JobContext) async throws -> Void
    ) -> Worker {
        var configuration = WorkerConfiguration(queues: queues.map { .init($0) }, concurrency: concurrency)
        configuration.longestPoll = longestPoll
        return Worker(
            broker: broker,
            configuration: configuration,
            operations: [RegisteredOperation("work") { try await handler($0) }],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private func push(_ id: String, to queue: String = queue) async throws {
        _ = try await Producer(broker: broker.memory).push(OperationDescription("work", queue: queue, id: id))
    }

    private func comeToRest(_ queue: String = queue) async throws {
        try await eventually("the worker has looked a few times") { broker.calls[queue, default: 0] > 5 }
    }

    private func finished(_ queue: String = queue) async throws -> Int {
        try await broker.memory.status(of: queue).queue.totals["finished"]
    }

    @Test("dispatched jobs begin before another call is made")
    func beginWithoutACall() async throws {
        let withoutACall = Atomic(0)
        let work = worker(longestPoll: .seconds(60)) { [broker] _ in
            guard let calls = broker.callsAtDispatch[Self.queue], calls == broker.calls[Self.queue] else { return }
            withoutACall.add(1, ordering: .relaxed)
        }
        try await comeToRest()
        // A call may happen in between by chance, but not every time.
        for number in 0..<100 where withoutACall.load(ordering: .relaxed) < 10 {
            try await push("job-\(number)")
            try await eventually("it has ended") { try await finished() == number + 1 }
        }
        #expect(withoutACall.load(ordering: .relaxed) == 10)
        work.cancel()
        try await work.value
    }

    @Test("a lost wake-up costs one more call and no report")
    func lostWakeUps() async throws {
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        let begun = Mutex<[String]>([])
        let work = worker { job in
            begun.withLock { $0.append(job.id) }
            if job.id == "first" { for await _ in gate {} }
        }
        try await comeToRest()
        try await push("first")
        try await eventually("the first one runs") { begun.withLock { $0 } == ["first"] }
        try await comeToRest()
        broker.loseWakeUps()
        try await push("second")
        opens.finish()
        try await eventually("both have ended") { try await finished() == 2 }
        #expect(begun.withLock { $0 } == ["first", "second"])
        #expect(try await broker.memory.audit(Self.queue, repair: false) == [])
        work.cancel()
        try await work.value
        #expect(try await broker.memory.status(of: Self.queue).queue.totals["released"] == 0)
    }

    @Test("a worker of several queues gets no direct dispatch")
    func severalQueues() async throws {
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        let work = worker(queues: [Self.queue, "other"], concurrency: 1) { job in
            if job.id == "first" { for await _ in gate {} }
        }
        try await comeToRest()
        try await comeToRest("other")
        try await push("first")
        try await eventually("it runs") { try await broker.memory.status(of: Self.queue).queue.running == 1 }
        try await push("second", to: "other")
        #expect(try await broker.memory.status(of: "other").queue.ready == 1)
        opens.finish()
        try await eventually("it has ended, too") { try await finished("other") == 1 }
        work.cancel()
        try await work.value
    }

    @Test("a worker that is stopping releases undelivered claims while it waits for its runs")
    func leavesWithoutHearing() async throws {
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        let worker = made(longestPoll: .seconds(60)) { job in
            if job.id == "first" { for await _ in gate {} }
        }
        let group = ServiceGroup(services: [worker], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
        let work = Task { try await group.run() }
        try await comeToRest()
        try await push("first")
        try await eventually("it runs") { try await broker.memory.status(of: Self.queue).queue.running == 1 }
        let calls = broker.calls[Self.queue, default: 0]
        try await eventually("the worker has looked for another one") {
            broker.calls[Self.queue, default: 0] > calls + 5
        }
        broker.loseWakeUps()
        // There is no call between the push and the end.
        broker.fail(with: BrokerError(.notReachable, "no connection"))
        try await push("second")
        #expect(try await broker.memory.status(of: Self.queue).queue.running == 2)
        await group.triggerGracefulShutdown()
        let failures = broker.failures[Self.queue, default: 0]
        try await eventually("calls fail while it leaves") { broker.failures[Self.queue, default: 0] > failures + 3 }
        broker.fail(with: nil)
        try await eventually("it is ready again") { try await broker.memory.status(of: Self.queue).queue.ready == 1 }
        #expect(try await broker.memory.status(of: Self.queue).queue.running == 1)
        opens.finish()
        try await work.value
    }

    @Test("a dispatched job that arrives too late is released unspent, and runs under a new claim")
    func heardOfTooLate() async throws {
        let tokens = Mutex<[Token]>([])
        var configuration = WorkerConfiguration(queues: [.init(Self.queue)], concurrency: 1)
        (configuration.lease, configuration.longestWait) = (.milliseconds(500), .zero)
        let worker = Worker(
            broker: broker,
            configuration: configuration,
            operations: [RegisteredOperation("work") { (job: JobContext) in tokens.withLock { $0.append(job.token) } }],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        )
        let work = Task { try await worker.run() }
        try await comeToRest()
        broker.hold(Self.queue)
        try await eventually("a call is under way") { broker.heldCalls == 1 }
        try await push("late")
        let record = try #require(try await broker.memory.inspect(["late"], on: Self.queue)[0])
        #expect(record.state == .running, "it was dispatched")
        // Longer than a claim may wait: the lease and 3 s for the round trips.
        try await Task.sleep(for: .milliseconds(3700))
        broker.hold(nil)
        try await eventually("it has ended") { try await finished() == 1 }
        #expect(tokens.withLock(\.count) == 1)
        let totals = try await broker.memory.status(of: Self.queue).queue.totals
        #expect(totals["released"] == 1)
        #expect(totals["failed"] + totals["timed_out"] + totals["recovered"] == 0)
        work.cancel()
        try await work.value
    }
}

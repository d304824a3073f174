import Errand
import ErrandRedis
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

/// A worker that starts survives a server that is full of jobs or clients.
@Suite("Workers that start while the broker is unavailable", .timeLimit(.minutes(6)))
struct StartingWorkerTests {
    private let server: RedisServer
    private let logger = Logger(label: "starting")

    init() throws { server = try RedisServer() }

    private func broker(_ url: String) throws -> RedisBroker {
        RedisBroker(
            try RedisAddress(url: url),
            options: ConnectionOptions(patience: .milliseconds(200)),
            logger: logger
        )
    }

    /// Starts a worker with a job, calls a closure once it waits for the broker, and waits until the job has run.
    /// Returns the reason for which it waited, if it did.
    private func start(waiting relieve: (() async throws -> Void)?) async throws -> BrokerError.Code? {
        let broker = try broker(server.url)
        defer { broker.close() }
        let waiting = Mutex<BrokerError?>(nil)
        let runs = Mutex(0)
        let worker = Worker(
            broker: broker,
            operations: [RegisteredOperation("count") { (_: JobContext) in runs.withLock { $0 += 1 } }],
            logger: logger
        ) { event in
            if case .waitingForBroker(let error) = event { waiting.withLock { $0 = error } }
        }
        let running = Task { try await worker.run() }
        if let relieve {
            try await eventually("the worker waits") { waiting.withLock { $0 } != nil }
            #expect(worker.session == nil)
            try await relieve()
        }
        try await eventually("its job has run") { runs.withLock { $0 } == 1 }
        running.cancel()
        try await running.value
        return waiting.withLock { $0?.code }
    }

    private func push() async throws {
        let broker = try broker(server.url)
        defer { broker.close() }
        try await Producer(broker: broker).push(OperationDescription("count"))
    }

    @Test func `full memory keeps no worker from making room`() async throws {
        try await push()
        try server.run("DEL", "errand:queues")
        try server.run("CONFIG", "SET", "maxmemory", "1")
        #expect(try await start(waiting: nil) == nil)
        #expect(try server.run("EXISTS", "errand:{default}:body", "errand:queues") == "0")
    }

    /// Whichever master is lost, also the one with the registry of queues.
    @Test(arguments: 0..<3) func `a worker serves the queues of the other masters at once`(lost: Int) async throws {
        let cluster = try RedisCluster(["--cluster-require-full-coverage", "no"])
        let broker = try broker(cluster.url)
        defer { broker.close() }
        var queues = try cluster.masters.map { master in
            try #require(try (0..<100).map { "queue-\($0)" }.first { try cluster.server(of: $0).port == master.port })
        }
        let late = queues[lost]
        // The lost one comes first.
        queues.swapAt(0, lost)
        cluster.masters[lost].kill(SIGKILL)
        let events = Mutex<[String]>([])
        let runs = Mutex<[String]>([])
        let schedule = try Schedule(
            "nightly",
            .every(.seconds(3600)),
            pushing: OperationDescription("count", queue: late)
        )
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: queues.map { WorkerConfiguration.QueueShare($0) }),
            operations: [
                RegisteredOperation("count") { (context: JobContext) in runs.withLock { $0.append(context.queue) } }
            ],
            schedules: [schedule],
            logger: logger
        ) { event in
            switch event {
            case .queuesUnavailable(let queues): events.withLock { $0 += queues }
            case .queueRegistered(let queue): events.withLock { $0.append("then " + queue) }
            default: break
            }
        }
        let running = Task { try await worker.run() }
        let producer = Producer(broker: broker)
        for queue in queues where queue != late {
            #expect(try await producer.push(OperationDescription("count", queue: queue)).outcome == .accepted)
        }
        try await eventually("the others' jobs have run") { runs.withLock { $0.count } == 2 }
        #expect(events.withLock { $0 } == [late])
        try cluster.masters[lost].start()
        try await eventually("the last queue is served") { events.withLock { $0 } == [late, "then " + late] }
        try await producer.push(OperationDescription("count", queue: late))
        try await eventually("its job has run") { runs.withLock { $0.last } == late }
        #expect(try await broker.schedule("nightly", on: late) != nil)
        try await eventually("all queues are known") { (try? await broker.queues()) == queues.sorted() }
        running.cancel()
        try await running.value
    }

    @Test func `a worker waits while the server has too many clients`() async throws {
        try await push()
        // No other client can connect any more, so the connected one has to end it.
        let console = try broker(server.shownURL)
        defer { console.close() }
        _ = try await console.command(.command("CONFIG", "SET", "maxclients", "1"), for: .anywhere)
        let code = try await start {
            _ = try await console.command(.command("CONFIG", "SET", "maxclients", "100"), for: .anywhere)
        }
        #expect(code == .notReachable)
    }
}

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

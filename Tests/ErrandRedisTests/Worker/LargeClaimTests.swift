import Errand
import InMemoryLogging
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// A server closes the connection each time a reply exceeds its client-output-buffer-limit.
@Suite("Replies above the limits", .timeLimit(.minutes(6)))
struct LargeClaimTests {
    private static let queue = "large"
    private let log = InMemoryLogHandler()

    private func server(_ limit: String) throws -> RedisServer {
        try RedisServer(["--client-output-buffer-limit", "normal", limit, "0", "0"])
    }

    private func broker(_ server: RedisServer) throws -> RedisBroker {
        RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "broker"))
    }

    private func push(_ bytes: [Int], to broker: RedisBroker) async throws {
        for (number, count) in bytes.enumerated() {
            let text = String(repeating: "x", count: count)
            let job = try OperationDescription("work", encoding: [text], queue: Self.queue, id: "job-\(number)")
            #expect(try await Producer(broker: broker).push(job).outcome == .accepted)
        }
    }

    /// Runs a worker with its own connections until a condition holds.
    private func work(
        on server: RedisServer,
        until what: String,
        _ isSo: @escaping @Sendable () async throws -> Bool
    ) async throws {
        let broker = try broker(server)
        defer { broker.close() }
        let logger = Logger(label: "worker") { [log] _ in log }
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue)], concurrency: 8),
            operations: [RegisteredOperation("work") { _ in }],
            logger: logger
        )
        let running = Task { try await worker.run() }
        defer { running.cancel() }
        try await eventually(what, isSo)
        running.cancel()
        try await running.value
    }

    private func messages(_ level: Logger.Level) -> [String] {
        log.entries.filter { $0.level == level }.map { "\($0.message)" }
    }

    @Test("a call whose reply is too large claims fewer jobs, with a warning")
    func asksForLess() async throws {
        let server = try server("2mb")
        let broker = try broker(server)
        defer { broker.close() }
        try await push(Array(repeating: 900_000, count: 12), to: broker)
        try await work(on: server, until: "all have finished") {
            try await broker.status(of: Self.queue).queue.totals["finished"] == 12
        }
        let totals = try await broker.status(of: Self.queue).queue.totals
        #expect(totals["failed"] == 0 && totals["recovered"] == 0)
        #expect(messages(.warning).contains { $0.contains("client-output-buffer-limit") }, "\(log.entries)")
        #expect(try await broker.audit(Self.queue, repair: false) == [])
    }

    @Test("a job larger than any reply becomes dead with the reason, and the jobs after it run")
    func setsAside() async throws {
        let server = try server("600kb")
        let broker = try broker(server)
        defer { broker.close() }
        try await push([900_000, 10, 10, 900_000, 10], to: broker)
        try await work(on: server, until: "the others have finished") {
            let queue = try await broker.status(of: Self.queue).queue
            return queue.totals["finished"] == 3 && queue.dead == 2
        }
        #expect(messages(.error).contains { $0.contains("job-0") && $0.contains("client-output-buffer-limit") })
        #expect(try await broker.audit(Self.queue, repair: false) == [])
        try server.run("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
        let record = try #require(try await broker.inspect(["job-0"], on: Self.queue)[0])
        #expect(record.state == .dead && record.body.count > 900_000)
        #expect(record.lastError?.contains("client-output-buffer-limit") == true, "\(record.lastError ?? "")")
    }

    @Test("pages of jobs come in parts that the server sends")
    func readsInParts() async throws {
        let server = try server("1mb")
        let broker = try broker(server)
        defer { broker.close() }
        try await push(Array(repeating: 300_000, count: 9), to: broker)
        let ids = (0..<9).map { "job-\($0)" }
        #expect(try await broker.inspect(ids, on: Self.queue).compactMap { $0?.id } == ids)
        var (found, cursor): ([String], Int?) = ([], 0)
        while let from = cursor {
            let page = try await broker.jobs(in: .ready, on: Self.queue, from: from, count: 500)
            found += page.jobs.map(\.id)
            cursor = page.next
        }
        #expect(found == ids)
    }

    @Test("an unreadable value is reported with its setting")
    func namesTheSetting() async throws {
        let server = try server("600kb")
        let broker = try broker(server)
        defer { broker.close() }
        try await push([900_000], to: broker)
        let error = await #expect(throws: BrokerError.self) { try await broker.inspect(["job-0"], on: Self.queue) }
        #expect(error?.code == .outcomeUnknown)
        #expect(error?.message.contains("client-output-buffer-limit") == true, "\(error?.message ?? "")")
    }
}

import Errand
import ErrandRedis
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

/// A server that restarts with older data has claims that no worker has, or lacks claims that workers have.
@Suite("Claims that were rolled back")
struct RolledBackClaimsTests {
    private static let queue = "rolled-back"

    /// The state of the handler, and whether it may end.
    private final class Handler: Sendable {
        struct Seen: Sendable {
            var begun = 0
            var cancelled = 0
            var isOpen = false
        }
        let seen = Mutex(Seen())

        var operation: RegisteredOperation {
            RegisteredOperation("wait", timeout: .seconds(600)) { [self] (job: JobContext) async throws -> Void in
                seen.withLock { $0.begun += 1 }
                do {
                    while !seen.withLock(\.isOpen) { try await Task.sleep(for: .milliseconds(5)) }
                } catch {
                    seen.withLock { $0.cancelled += 1 }
                    throw error
                }
            }
        }
    }

    /// Runs a test with a worker of a short lease that has begun a job with a long timeout.
    private func play(
        concurrency: Int = 8,
        lease: Duration = .seconds(9),
        _ body: (RedisServer, RedisBroker, Handler, String) async throws -> Void
    ) async throws {
        let server = try RedisServer()
        let broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "rolled-back"))
        defer { broker.close() }
        let handler = Handler()
        let configuration = WorkerConfiguration(queues: [.init(Self.queue)], concurrency: concurrency, lease: lease)
        let worker = Worker(
            broker: broker,
            configuration: configuration,
            operations: [handler.operation],
            logger: Logger(label: "rolled-back")
        )
        let running = Task { try await worker.run() }
        let id = try await Producer(broker: broker).push(OperationDescription("wait", queue: Self.queue)).id
        try await eventually("the job has begun") { handler.seen.withLock(\.begun) == 1 }
        try await body(server, broker, handler, id)
        running.cancel()
        try await running.value
    }

    @Test("a claim that no worker has is released at once and does not time out", .timeLimit(.minutes(6)))
    func unknownClaim() async throws {
        try await play { server, broker, handler, id in
            let keys = try server.run("KEYS", "errand:{\(Self.queue)}:*").split(separator: "\n").map(String.init)
            for key in keys { try server.run("COPY", key, "saved:" + key, "REPLACE") }
            handler.seen.withLock { $0.isOpen = true }
            try await eventually("the job has finished") {
                try await broker.inspect([id], on: Self.queue)[0]?.state != .running
            }
            for key in try server.run("KEYS", "errand:{\(Self.queue)}:*").split(separator: "\n") {
                try server.run("DEL", String(key))
            }
            for key in keys { try server.run("COPY", "saved:" + key, key, "REPLACE") }
            #expect(try await broker.inspect([id], on: Self.queue)[0]?.state == .running)
            try await eventually("it is run again") { handler.seen.withLock(\.begun) == 2 }
            try await eventually("it has finished again") {
                try await broker.status(of: Self.queue).queue.running == 0
            }
            let totals = try await broker.status(of: Self.queue).queue.totals
            #expect(totals["timed_out"] == 0 && totals["recovered"] == 0 && totals["released"] == 1)
            #expect(try await broker.audit(Self.queue, repair: false) == [])
        }
    }

    @Test("a rolled-back claim of a busy worker is noticed as soon", .timeLimit(.minutes(6)))
    func unknownClaimOfBusyWorker() async throws {
        try await play { server, broker, handler, _ in
            handler.seen.withLock { $0.isOpen = true }
            // So many that the number of a worker's claims changes from one heartbeat to the next.
            let producer = Producer(broker: broker)
            let load = Task {
                while !Task.isCancelled {
                    let jobs = try (0..<40).map { _ in try OperationDescription("wait", queue: Self.queue) }
                    _ = try await producer.push(contentsOf: jobs)
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            let session = try await broker.status(of: Self.queue).sessions[0].id
            let stray = "stray"
            let keys = "errand:{\(Self.queue)}:"
            try await broker.configure(Self.queue, QueueSettings(isPaused: true))
            _ = try await producer.push(OperationDescription("wait", queue: Self.queue, id: stray))
            #expect(try server.run("LREM", keys + "ready:5", "1", stray) == "1")
            try server.run("HSET", keys + "claims:\(session)", stray, "1:9000000000000")
            try await broker.configure(Self.queue, QueueSettings(isPaused: false))
            try await eventually("it is run after all") {
                try await broker.inspect([stray], on: Self.queue)[0]?.state == .finished
            }
            load.cancel()
            _ = await load.result
            // On a slow machine, the worker also releases jobs that it could not begin in time.
            let totals = try await broker.status(of: Self.queue).queue.totals
            #expect(totals["timed_out"] == 0 && totals["recovered"] == 0 && totals["released"] >= 1)
        }
    }

    @Test("a run whose claim is gone is told to stop", .timeLimit(.minutes(6)))
    func lostClaim() async throws {
        try await play { server, broker, handler, id in
            let session = try await broker.status(of: Self.queue).sessions[0].id
            try server.run("HDEL", "errand:{\(Self.queue)}:claims:\(session)", id)
            try server.run("HDEL", "errand:{\(Self.queue)}:body", id)
            try await eventually("the handler is told to stop") { handler.seen.withLock(\.cancelled) == 1 }
        }
    }

    @Test("many large unknown claims are released in portions", .timeLimit(.minutes(6)))
    func unknownLargeClaims() async throws {
        try await play(concurrency: 1, lease: .seconds(20)) { server, broker, handler, _ in
            let large = String(repeating: "x", count: 900_000)
            for _ in 0..<24 {
                let job = try OperationDescription("wait", encoding: [large], queue: Self.queue)
                _ = try await Producer(broker: broker).push(job)
            }
            let hold = """
                local Q = KEYS[1]
                local session = redis.call('ZRANGE', Q .. ':sessions', 0, 0)[1]
                local token = redis.call('HGET', Q .. ':runtime', 'token')
                for _, id in ipairs(redis.call('LRANGE', Q .. ':ready:5', 0, -1)) do
                  redis.call('HSET', Q .. ':claims:' .. session, id, token .. ':4000000000000')
                end
                redis.call('DEL', Q .. ':ready:5')
                """
            try server.run("EVAL", hold, "1", "errand:{\(Self.queue)}")
            let released = { try await broker.status(of: Self.queue).queue.totals["released"] }
            try await eventually("some are back", within: .seconds(100)) { try await released() > 0 }
            let began = ContinuousClock.now
            try await eventually("all are back", within: .seconds(100)) { try await released() == 24 }
            // A suspicion takes two heartbeats, five seconds apart.
            #expect(ContinuousClock.now - began < .seconds(9), "each part waited for another doubt")
            handler.seen.withLock { $0.isOpen = true }
            try await eventually("all are done") {
                try await broker.status(of: Self.queue).queue.totals["finished"] == 25
            }
        }
    }
}

import Errand
import ErrandRedis
import Foundation
import Logging
import Synchronization
import TestSupport

/// A server, a queue, a catalogue with its ledger, and worker processes; the test itself is producer and console.
final class FaultScene: Sendable {
    static let queue = "faults"

    let server: RedisServer
    let broker: RedisBroker
    let producer: Producer
    let ledger: Ledger
    let events: FaultEvents
    private let gate: String
    private let catalogue: String
    private let workers = Mutex<[Program]>([])

    private init(_ server: RedisServer) async throws {
        self.server = server
        ledger = Ledger(in: server.directory)
        gate = server.directory + "/gate"
        catalogue = try FaultCatalogue.write(to: server.directory, queue: Self.queue, ledger: ledger.path, gate: gate)
        broker = try Self.connect(server.url)
        producer = Producer(broker: broker)
        events = FaultEvents(of: broker, on: Self.queue)
        try await events.awaitSubscription()
    }

    /// Prepares the scene, runs the test, and ends every process.
    static func play(
        _ server: RedisServer? = nil,
        _ body: (FaultScene) async throws -> Void
    ) async throws {
        let scene = try await FaultScene(server ?? RedisServer())
        defer { scene.end() }
        try await body(scene)
    }

    private func end() {
        for worker in workers.withLock({ $0 }) { worker.signal(SIGKILL) }
        events.cancel()
        broker.close()
    }

    static func connect(_ url: String, patience: Duration = .seconds(10)) throws -> RedisBroker {
        let options = ConnectionOptions(patience: patience, clientName: "test")
        return RedisBroker(try RedisAddress(url: url), options: options, logger: Logger(label: "test"))
    }

    // MARK: Workers

    /// Starts a worker process and waits until it is registered.
    func worker(
        lease: String = "2s",
        concurrency: Int = 4,
        grace: String = "10s",
        via url: String? = nil
    ) async throws -> Program {
        let arguments = [
            "--catalogue", catalogue, "--queue", Self.queue, "--redis", url ?? server.url, "--lease", lease,
            "--concurrency", String(concurrency), "--grace", grace, "--json",
        ]
        let worker = try Program("errand-worker", arguments)
        workers.withLock { $0.append(worker) }
        try await eventually("a worker registers; it wrote \(worker.lines)") {
            guard worker.isRunning else { throw TestFailure("the worker ended: \(worker.lines)") }
            return !self.sessions(of: worker).isEmpty
        }
        return worker
    }

    /// The ids of the sessions that a worker has had, oldest first.
    func sessions(of worker: Program) -> [String] {
        struct Line: Decodable {
            let event: String
            let worker: String?
        }
        return worker.lines.compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            .filter { $0.event == "registered" }.compactMap(\.worker)
    }

    /// Stops workers, and returns how they ended.
    func stop(_ workers: [Program]) async throws -> [Int32] {
        for worker in workers { worker.signal(SIGTERM) }
        var statuses: [Int32] = []
        for worker in workers { statuses.append(try await worker.end()) }
        return statuses
    }

    // MARK: Jobs

    func openGate() throws { try Data().write(to: URL(fileURLWithPath: gate)) }

    /// Pushes one job, and repeats that while its outcome is unknown or the broker is away.
    @discardableResult
    func push(_ description: OperationDescription) async throws -> Receipt { try await producer.push(description) }

    /// Pushes this many plain jobs and returns their ids.
    func pushMany(_ count: Int, _ operation: String, _ arguments: JSONText = .emptyObject) async throws -> [String] {
        let jobs = try (0..<count).map { _ in
            try OperationDescription(operation, arguments: arguments, queue: Self.queue)
        }
        return try await producer.push(contentsOf: jobs).map(\.id)
    }

    // MARK: The console's view

    func status() async throws -> QueueStatus { try await broker.status(of: Self.queue).queue }

    func state(of id: String) async throws -> JobState? { try await broker.inspect([id], on: Self.queue)[0]?.state }

    /// The ids among these that are not finished, with their states.
    func unfinished(_ ids: [String]) async throws -> [String: String] {
        var others: [String: String] = [:]
        for (id, record) in zip(ids, try await broker.inspect(ids, on: Self.queue)) where record?.state != .finished {
            others[id] = record?.state.rawValue ?? "unknown"
        }
        return others
    }

    /// Waits until no job waits or runs.
    func drain(within limit: Duration = .seconds(60)) async throws {
        try await eventually("the queue is empty", within: limit) {
            let now = try await self.status()
            return now.ready + now.running + now.scheduled + now.retrying + now.deferred == 0
        }
    }

    func findings() async throws -> [Finding] { try await broker.audit(Self.queue, repair: false) }

    /// The queue's keys without their common prefix.
    func keys() throws -> Set<String> {
        let prefix = KeySpace.key(of: Self.queue) + ":"
        return Set(try server.run("KEYS", "errand:*").split(separator: "\n").map(String.init))
            .reduce(into: []) { keys, key in
                if key.hasPrefix(prefix) { keys.insert(String(key.dropFirst(prefix.count))) }
            }
    }

    /// The keys that may remain of a queue whose jobs have all ended and whose workers have stopped.
    static func mayBeLeft(_ key: String) -> Bool {
        ["runtime", "counters", "schedules", "timetable", "pauses", "ticks", "unscheduled"].contains(key)
            || key.hasPrefix("ended") || key.hasPrefix("history") || key.hasPrefix("statistics")
    }
}

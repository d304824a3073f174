import Backgroundable
import Foundation
import Logging
import Testing

@testable import Errand

/// A scheduler on a broker, and a record of its tasks. Other schedulers on the same broker stand for other processes.
struct BrokerScene: Sendable {
    static let identifier = "prices.refresh"
    static let queue = "tasks"

    let broker: any Broker
    let scheduler: TaskScheduler
    let log = TaskLog()

    init(_ broker: any Broker = MemoryBroker(), allowances: TaskAllowances = TaskAllowances()) {
        self.broker = broker
        scheduler = TaskScheduler(
            broker: broker,
            permittedIdentifiers: [Self.identifier, "other"],
            allowances: allowances,
            logger: Logger(label: "tasks") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    func register(_ identifier: String = identifier, _ handler: @escaping @Sendable (ScheduledTask) -> Void) {
        #expect(scheduler.register(forTaskWithIdentifier: identifier, using: nil, launchHandler: handler))
    }

    /// A request that is due in this many seconds.
    func request(_ identifier: String = identifier, in seconds: TimeInterval? = nil) -> TaskRequest {
        let request = AppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = seconds.map { Date(timeIntervalSinceNow: $0) }
        return request
    }

    func submit(_ identifier: String = identifier, in seconds: TimeInterval? = nil) async throws {
        try await scheduler.submit(request(identifier, in: seconds))
    }

    func total(_ name: String) async throws -> Int {
        try await broker.status(of: Self.queue).queue.totals[name]
    }

    /// Runs the scheduler's worker while `body` runs, then stops it at once.
    func withWorker(_ body: () async throws -> Void) async throws {
        try await run(try scheduler.makeWorker(lease: .seconds(2)), while: body)
    }

    /// Runs a worker with only some of the scheduler's operations while `body` runs, then stops it at once.
    func withWorker(knowing isKnown: (String) -> Bool, _ body: () async throws -> Void) async throws {
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init(Self.queue)], lease: .seconds(2)),
            operations: scheduler.operations.filter { isKnown($0.name) },
            logger: Logger(label: "worker")
        )
        try await run(worker, while: body)
    }

    private func run(_ worker: Worker, while body: () async throws -> Void) async throws {
        let work = Task { try await worker.run() }
        do {
            try await body()
        } catch {
            work.cancel()
            throw error
        }
        work.cancel()
        try await work.value
    }

    /// Polls until the condition holds.
    func eventually(_ what: String, _ isSo: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try await !isSo() {
            try #require(ContinuousClock.now < end, "not within 120 s: \(what)")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Checks that nothing but temporary records is left, and that the broker's data is sound.
    func checkThatItIsOver() async throws {
        let status = try await broker.status(of: Self.queue).queue
        #expect(status.isEmpty)
        #expect(try await broker.audit(Self.queue, repair: false) == [])
    }
}

extension QueueStatus {
    /// Whether no job waits or runs.
    var isEmpty: Bool {
        [ready, scheduled, running, retrying, deferred].allSatisfy { $0 == 0 }
    }
}

/// A record of what tasks did, in order, and the tasks themselves.
final class TaskLog: Sendable {
    private let state = Locked<(lines: [String], tasks: [ScheduledTask])>(([], []))

    var lines: [String] { state.withLock { $0.lines } }
    var tasks: [ScheduledTask] { state.withLock { $0.tasks } }

    func note(_ line: String) {
        state.withLock { $0.lines.append(line) }
    }

    func keep(_ task: ScheduledTask) {
        state.withLock { $0.tasks.append(task) }
    }
}

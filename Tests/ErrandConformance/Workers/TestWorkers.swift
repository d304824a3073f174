import Errand
import Logging
import Synchronization

/// A worker under test, which runs in a task.
final class TestWorkers: Sendable {
    let worker: Worker
    private let task: Task<Void, any Error>

    init(
        _ fixture: Fixture,
        _ operations: [RegisteredOperation],
        _ configuration: WorkerConfiguration? = nil,
        schedules: [Schedule] = []
    ) {
        let queues = [WorkerConfiguration.QueueShare(fixture.queue)]
        worker = Worker(
            broker: fixture.broker,
            configuration: configuration
                ?? WorkerConfiguration(queues: queues, lease: .seconds(2), stopGrace: .milliseconds(300)),
            operations: operations,
            schedules: schedules,
            logger: Logger(label: "workers")
        )
        task = Task { [worker] in try await worker.run() }
    }

    /// Makes a worker whose operations are registered one by one.
    init(_ fixture: Fixture, middleware: [any JobMiddleware] = [], _ register: (Worker) -> Void) {
        worker = Worker(
            broker: fixture.broker,
            configuration: WorkerConfiguration(
                queues: [WorkerConfiguration.QueueShare(fixture.queue)],
                lease: .seconds(2),
                stopGrace: .milliseconds(300)
            ),
            middleware: middleware,
            logger: Logger(label: "workers")
        )
        register(worker)
        task = Task { [worker] in try await worker.run() }
    }

    convenience init(_ fixture: Fixture, _ configuration: WorkerConfiguration, _ operations: [RegisteredOperation]) {
        self.init(fixture, operations, configuration)
    }

    /// Waits until the worker ends by itself.
    func end() async throws { try await task.value }

    /// Stops the worker immediately and waits until it has ended.
    func dismiss() async throws {
        task.cancel()
        try await task.value
    }
}

/// A record of what handlers did, in order.
final class Recorder: Sendable {
    private let entries = Mutex<[String]>([])
    var lines: [String] { entries.withLock { $0 } }
    func note(_ line: String) { entries.withLock { $0.append(line) } }
    func clear() { entries.withLock { $0 = [] } }
}

/// A gate at which handlers wait until the test opens it. A cancelled task stops waiting with an error.
final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the latch is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    func pass() async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting[number] = continuation }
                    return state.isOpen
                }
                if isOpen { continuation.resume() } else if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: Int) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
    }
}

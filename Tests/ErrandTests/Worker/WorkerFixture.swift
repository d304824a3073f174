import Errand
import InMemoryLogging
import Logging
import TestSupport

/// A queue whose broker can fail, with workers whose handlers can be held.
struct WorkerFixture: Sendable {
    static let queue = "fixture"

    let broker = TroubledBroker()
    let held = HeldJobs()
    let log = InMemoryLogHandler()

    /// A worker of the queue, unless its configuration names others.
    func worker(
        _ operations: [RegisteredOperation],
        _ configuration: WorkerConfiguration = WorkerConfiguration(),
        onEvent: @escaping @Sendable (WorkerEvent) -> Void = { _ in }
    ) -> Worker {
        var configuration = configuration
        if configuration.queues.isEmpty { configuration.queues = [.init(WorkerFixture.queue)] }
        return Worker(
            broker: broker,
            configuration: configuration,
            operations: operations,
            logger: Logger(label: "fixture") { [log] _ in log },
            onEvent: onEvent
        )
    }

    /// Runs a closure while a worker works, and waits until the worker has stopped.
    func open(_ worker: Worker, _ body: (Task<Void, any Error>) async throws -> Void) async throws {
        let work = Task { try await worker.run() }
        defer { close(work) }
        try await body(work)
        close(work)
        try await work.value
    }

    private func close(_ work: Task<Void, any Error>) {
        work.cancel()
        held.letGo()
    }

    /// Waits until this many runs have begun.
    func begin(_ count: Int = 1) async throws {
        try await eventually("\(count) runs have begun") { held.begun.count == count }
    }

    func push(_ id: String, _ operation: String = "stay", to queue: String = WorkerFixture.queue) async throws {
        _ = try await Producer(broker: broker.memory).push(OperationDescription(operation, queue: queue, id: id))
    }

    func status() async throws -> QueueStatus { try await broker.memory.status(of: WorkerFixture.queue).queue }

    func total(_ name: String) async throws -> Int { try await status().totals[name] }
}

import Backgroundable
import Logging

@testable import Errand

extension SessionContext {
    /// Makes the context of a session of an in-memory broker.
    static func forTests(queues: [String], lease: Duration = .milliseconds(500)) -> SessionContext {
        let configuration = WorkerConfiguration(queues: queues.map { .init($0) }, lease: lease)
        return SessionContext(
            session: .forTests(queues: queues, lease: lease),
            broker: MemoryBroker(),
            configuration: configuration,
            operations: [:],
            middleware: MiddlewareChain([any JobMiddleware]()),
            localQueue: SlotQueue(slots: 1, label: "test"),
            shutdown: Shutdown(grace: .seconds(1), stopGrace: .seconds(1)),
            overruns: Overruns(limit: 16),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onStuck: { _ in }
        )
    }
}

extension Session {
    /// Makes a session of one slot.
    static func forTests(queues: [String], lease: Duration = .seconds(30)) -> Session {
        Session(id: "session-1", host: "h", pid: 1, concurrency: 1, queues: queues, lease: lease, operations: [:])
    }
}

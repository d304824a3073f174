import Logging
import ServiceLifecycle
import UnixSignals

extension Worker {
    /// Works until the process is asked to end: a whole program's last line.
    ///
    /// The first SIGTERM or SIGINT shuts down gracefully: nothing more is claimed, running jobs have the configuration's grace to
    /// end, the rest is given back with nothing spent. The second one ends at once: what still runs is told to stop and given
    /// back without waiting for it.
    ///
    /// A program with other services runs the worker as one of them, in its own `ServiceGroup`.
    ///
    /// - Throws: as ``run()``.
    public func runUntilTerminated() async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: self, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: .current
            )
        )
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                var isFirst = true
                for await _ in signals {
                    if !isFirst { return }
                    isFirst = false
                    await group.triggerGracefulShutdown()
                }
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }
}

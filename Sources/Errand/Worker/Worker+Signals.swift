import Logging
import ServiceLifecycle
import UnixSignals

extension Worker {
    /// Works until the process is asked to end: a whole program's last line.
    ///
    /// The first SIGTERM or SIGINT shuts down gracefully: nothing more is claimed, running jobs have the configuration's grace
    /// to end, and the rest is released with nothing spent. A second one, at least 500 ms later, ends the worker at once: what
    /// still runs is told to stop, and released within a second without waiting for it, so the process must exit then.
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
                var requests = StopRequests()
                for await _ in signals {
                    switch requests.take() {
                    case .graceful: await group.triggerGracefulShutdown()
                    case .immediate: return self.stopNow()
                    case nil: continue
                    }
                }
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }
}

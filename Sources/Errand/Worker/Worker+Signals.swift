import Logging
import ServiceLifecycle
import UnixSignals

extension Worker {
    /// Runs the worker until the process receives SIGTERM or SIGINT: the last line of a program that is only a worker.
    ///
    /// The first SIGTERM or SIGINT shuts down gracefully: the worker claims nothing more, running jobs may finish
    /// within the configuration's grace, and the rest is released and spends nothing. A second one, at least 500 ms
    /// later, ends the worker immediately: running jobs are asked to stop and are released within a second without
    /// waiting for them, so the process must then exit.
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

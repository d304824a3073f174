import Backgroundable
import Foundation
public import Logging
public import ServiceLifecycle
import Synchronization

/// Claims jobs from a broker and runs them, until it is shut down.
///
/// Each job runs with its timeout in one of the worker's slots. The worker renews its claims with
/// heartbeats from a thread that handlers cannot block, recovers the jobs of dead workers, and moves due jobs to the
/// ready list. A worker that loses its session registers a new one and continues. A graceful shutdown
/// claims nothing more, lets running jobs finish within the grace, stops the rest, and releases jobs that have not
/// finished; they spend no attempt.
///
/// ```swift
/// let worker = Worker(broker: broker)
/// worker.registerJob(parameters: Greet.self) { greet, context in print("Hello, \(greet.name)!") }
/// try await worker.runUntilTerminated()
/// ```
///
/// A program with other services runs the worker as one of them: `ServiceGroup(services: [worker, …])`, or
/// Hummingbird's `Application(router: router, services: [worker])`.
public final class Worker: Service, CustomStringConvertible {
    private let broker: any WorkingBroker
    private let configuration: WorkerConfiguration
    private let registered: Mutex<[String: RegisteredOperation]>
    private let middleware: MiddlewareChain
    private let schedules: [Schedule]
    private let logger: Logger
    private let localQueue: SlotQueue
    private let shutdown: Shutdown
    private let current = Mutex<Session?>(nil)
    private let overruns: Overruns
    /// The time of this worker's creation, in milliseconds since 1970 UTC.
    private let startedAt: Int64
    private let stuck = Mutex<WorkerStuck?>(nil)
    /// Logs an event, and passes it on.
    private let tell: @Sendable (WorkerEvent) -> Void

    /// Makes a worker. If several operations have the same name, the last one is used.
    ///
    /// - Parameters:
    ///   - broker: the broker that stores the jobs.
    ///   - configuration: the queues, the number of jobs at the same time, and time limits.
    ///   - operations: the operations that the worker can run, besides those that are registered before it runs. A job
    ///     of another operation waits for a worker that has it.
    ///   - schedules: the schedules that the worker stores in the broker at every registration. The broker keeps a
    ///     newer schedule, and one that was changed or deleted by hand; the worker then logs that. A schedule ticks
    ///     while any worker serves its queue.
    ///   - middleware: the middleware around all jobs, the outermost first.
    ///   - logger: the logger, by default the task's. It gets the worker's states and what needs attention: runs that fail as
    ///     warnings, dead jobs as errors, jobs that are released, cancelled or recovered as notices, and a broker that does not
    ///     reply as a warning. Handlers get it with the job's id.
    ///   - onEvent: called for each change of the worker's state. It must not block.
    public init(
        broker: any WorkingBroker,
        configuration: WorkerConfiguration = WorkerConfiguration(),
        operations: [RegisteredOperation] = [],
        schedules: [Schedule] = [],
        middleware: [any JobMiddleware] = [],
        logger: Logger = .current,
        onEvent: @escaping @Sendable (WorkerEvent) -> Void = { _ in }
    ) {
        self.broker = broker
        startedAt = Int64(Date().timeIntervalSince1970 * 1000)
        let tell = { @Sendable [log = WorkerLog(logger: logger)] (event: WorkerEvent) in
            log.log(event)
            onEvent(event)
        }
        self.tell = tell
        self.configuration = configuration
        self.schedules = schedules
        self.middleware = MiddlewareChain(middleware)
        registered = Mutex(Dictionary(operations.map { ($0.name, $0) }, uniquingKeysWith: { $1 }))
        self.logger = logger
        localQueue = SlotQueue(slots: configuration.concurrency, label: "errand-worker")
        shutdown = Shutdown(grace: configuration.grace, stopGrace: configuration.stopGrace) { tell(.stopping) }
        overruns = Overruns(limit: configuration.mostOverruns)
    }

    /// A description for logs.
    public var description: String {
        "errand worker of \(served(operations).queues.map(\.name).joined(separator: ", "))"
    }

    /// Adds an operation, or replaces one of the same name.
    ///
    /// Register before ``run()``: operations that are registered later are used from the worker's next session on.
    public func register(_ operation: RegisteredOperation) {
        let before = registered.withLock { $0.updateValue(operation, forKey: operation.name) }
        guard before != nil else { return }
        logger.notice(
            "operation registered twice: the last one counts",
            metadata: ["job.operation": "\(operation.name)"]
        )
    }

    private var operations: [String: RegisteredOperation] { registered.withLock { $0 } }

    private func served(_ operations: [String: RegisteredOperation]) -> WorkerConfiguration {
        configuration.serving(operations.values, schedules)
    }

    /// The worker's current session; `nil` before its first registration.
    public var session: Session? { current.withLock { $0 } }

    /// Runs the worker until the task is cancelled or the service group shuts down gracefully.
    ///
    /// - Throws: ``BrokerError`` if the broker permanently rejects the worker, for instance because of wrong
    ///   credentials, or if an operation's name, queue, timeout or number of retries is invalid; ``WorkerStuck`` if too
    ///   many handlers do not stop when asked to. An unreachable broker does not end the worker.
    public func run() async throws {
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                defer { tell(.stopped) }
                try await work()
                if let stuck = stuck.withLock({ $0 }) { throw stuck }
            } onGracefulShutdown: {
                self.shutdown.request()
            }
        } onCancel: {
            self.shutdown.hurry()
        }
    }

    /// Begins the graceful shutdown, as a service group does. Can be called from any thread.
    package func beginShutdown() { shutdown.request() }

    /// Stops all running jobs of a process that is about to exit: ``run()`` returns as soon as they are released, after
    /// a second at the latest. Can be called from any thread.
    package func stopNow() { shutdown.stopNow() }

    private func work() async throws(BrokerError) {
        var pause = RegistrationPause()
        while !shutdown.isRequested {
            let operations = operations
            for operation in operations.values { try operation.checkLimits() }
            let configuration = served(operations)
            let session = makeSession(configuration, operations)
            let registration = SessionRegistration(
                of: session,
                storing: schedules,
                broker: broker,
                shutdown: shutdown,
                logger: logger,
                tell: tell
            )
            defer { registration.end() }
            guard try await registration.begin() else { return }
            current.withLock { $0 = session }
            tell(.registered(session))
            if !registration.missing.isEmpty { tell(.queuesUnavailable(registration.missing)) }
            let context = SessionContext(
                session: session,
                broker: broker,
                configuration: configuration,
                operations: operations,
                middleware: middleware,
                localQueue: localQueue,
                shutdown: shutdown,
                overruns: overruns,
                logger: logger,
                onStuck: { [weak self] in self?.note($0) }
            )
            let workerSession = WorkerSession(context, registration, tell: tell)
            pause.sessionBegins()
            // A worker that is shutting down does not register again; its calls may have failed only because of the
            // shutdown.
            guard try await workerSession.run(), !shutdown.isRequested else { return }
            tell(.sessionLost(session))
            await shutdown.signal.wait(for: pause.next(lease: configuration.lease))
        }
    }

    private func note(_ reason: WorkerStuck) {
        if reason.endsWorker { stuck.withLock { $0 = $0 ?? reason } }
        tell(.stuck(reason))
    }

    private func makeSession(
        _ configuration: WorkerConfiguration,
        _ operations: [String: RegisteredOperation]
    ) -> Session {
        var generator = SystemRandomNumberGenerator()
        let id = (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
        return Session(
            id: id,
            host: ProcessInfo.processInfo.hostName,
            pid: ProcessInfo.processInfo.processIdentifier,
            concurrency: configuration.concurrency,
            queues: configuration.queues.map(\.name),
            lease: configuration.lease,
            operations: operations.mapValues(\.defaults),
            startedAt: startedAt,
            version: configuration.version
        )
    }
}

/// An event of a worker.
public enum WorkerEvent: Sendable {
    /// The worker has registered a session and claims jobs.
    case registered(Session)
    /// The broker does not answer for these queues of the session, for instance because a cluster's master is lost.
    /// The worker serves the others, and keeps trying.
    case queuesUnavailable([String])
    /// The worker serves a queue for which the broker did not answer before.
    case queueRegistered(String)
    /// The broker no longer has the worker's session; the worker registers a new one.
    case sessionLost(Session)
    /// The broker is unreachable; the worker keeps trying.
    case waitingForBroker(BrokerError)
    /// Handlers do not return. A process that is only a worker should exit, so that its supervisor restarts it:
    /// handlers that block every thread of the task pool stop everything else in it, too.
    case stuck(WorkerStuck)
    /// The worker has begun to shut down: it claims nothing more and waits for its running jobs.
    case stopping
    /// The worker has ended; its jobs are reported or released.
    case stopped
}

import Backgroundable
import Foundation
public import Logging
public import ServiceLifecycle
import Synchronization

/// Claims jobs from a broker and runs them, until it is shut down.
///
/// Each job runs as an `AsyncOperation` with its timeout on the worker's `BackgroundQueue`. The worker keeps its claims
/// alive by heartbeats from a thread that handlers cannot block, takes back the jobs of workers that died, and puts due
/// jobs in line. A worker that loses its session registers a new one and goes on. Graceful shutdown claims nothing
/// more, lets running jobs end within the grace, stops the rest, and gives back what did not end, with its attempts
/// unspent.
///
/// ```swift
/// let worker = Worker(broker: broker)
/// worker.registerJob(parameters: Greet.self) { greet, context in print("Hello, \(greet.name)!") }
/// try await worker.runUntilTerminated()
/// ```
///
/// Where there are other services, it is one of them: `ServiceGroup(services: [worker, …])`, or Hummingbird's
/// `Application(router: router, services: [worker])`.
public final class Worker: Service, CustomStringConvertible {
    private let broker: any WorkingBroker
    private let configuration: WorkerConfiguration
    private let registered: Mutex<[String: RegisteredOperation]>
    private let middleware: MiddlewareChain
    private let schedules: [Schedule]
    private let logger: Logger
    private let background: BackgroundQueue
    private let shutdown: Shutdown
    private let current = Mutex<Session?>(nil)
    private let overruns: Overruns
    private let stuck = Mutex<WorkerStuck?>(nil)
    private let onEvent: @Sendable (WorkerEvent) -> Void

    /// Makes a worker. Of operations with the same name the last counts.
    ///
    /// - Parameters:
    ///   - broker: where the jobs are.
    ///   - configuration: the queues, how many jobs at once, and for how long things may take.
    ///   - operations: what the worker can run, and what is registered until it runs. A job of another operation waits for a
    ///     worker that knows it.
    ///   - schedules: what recurs; put to the broker with every registration. One that is outdated there, because newer
    ///     code or a person has changed or deleted it, is logged and left as it is. A schedule ticks while any worker
    ///     serves its queue.
    ///   - middleware: what is done around all jobs, the outermost first.
    ///   - logger: gets debug messages of what goes wrong and is tried again; each job's handler gets it with the
    ///     job's id. The task's unless said.
    ///   - onEvent: is told when the worker has registered, lost its session, or waits for the broker. It must
    ///     not block.
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
        self.onEvent = onEvent
        self.configuration = configuration
        self.schedules = schedules
        self.middleware = MiddlewareChain(middleware)
        registered = Mutex(Dictionary(operations.map { ($0.name, $0) }, uniquingKeysWith: { $1 }))
        self.logger = logger
        background = BackgroundQueue()
        background.name = "errand-worker"
        // A worker drains by itself: it gives back what does not end in time, which must come before the process leaves.
        background.holdsBackgroundTask = false
        background.maxConcurrentOperationCount = configuration.concurrency
        shutdown = Shutdown(grace: configuration.grace, stopGrace: configuration.stopGrace)
        overruns = Overruns(limit: configuration.mostOverruns)
    }

    /// A name for logs.
    public var description: String {
        "errand worker of \(served(operations).queues.map(\.name).joined(separator: ", "))"
    }

    /// Adds an operation, or takes the place of one of the same name.
    ///
    /// Register before ``run()``: what is registered later counts from the worker's next session on.
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

    /// The session that the worker has now; `nil` before its first registration.
    public var session: Session? { current.withLock { $0 } }

    /// Works until the task is cancelled or the service group shuts down gracefully.
    ///
    /// - Throws: ``BrokerError`` when the broker refuses the worker for good, for instance for wrong credentials, or when an
    ///   operation's name, timeout or retries are none that a job can have;
    ///   ``WorkerStuck`` when too many handlers did not stop when they were told to. A broker that cannot be reached is no
    ///   reason to end.
    public func run() async throws {
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await work()
                if let stuck = stuck.withLock({ $0 }) { throw stuck }
            } onGracefulShutdown: {
                self.shutdown.request()
            }
        } onCancel: {
            self.shutdown.hurry()
        }
    }

    /// Begins the graceful shutdown, as its service group would; from any thread.
    package func beginShutdown() { shutdown.request() }

    /// Stops all running jobs, for a process that is about to exit: ``run()`` returns as soon as they are released, at the
    /// latest after a second. From any thread.
    package func stopNow() { shutdown.stopNow() }

    private func work() async throws(BrokerError) {
        var pause = RegistrationPause()
        while !shutdown.isRequested {
            let operations = operations
            for operation in operations.values { try operation.checkLimits() }
            let configuration = served(operations)
            // Before the session: nobody beats for that yet, and these may take as long as the broker likes.
            for schedule in schedules { try await put(schedule) }
            let session = makeSession(configuration, operations)
            guard try await register(session) else { return }
            current.withLock { $0 = session }
            logger.debug("session registered", metadata: ["worker.id": "\(session.id)"])
            onEvent(.registered(session))
            let workerSession = WorkerSession(
                session: session,
                broker: broker,
                configuration: configuration,
                operations: operations,
                middleware: middleware,
                background: background,
                shutdown: shutdown,
                overruns: overruns,
                logger: logger,
                onStuck: { [weak self] in self?.note($0) }
            )
            pause.sessionBegins()
            // Who leaves registers no other one, and calls may have failed for that reason alone.
            guard try await workerSession.run(), !shutdown.isRequested else { return }
            onEvent(.sessionLost(session))
            await shutdown.signal.wait(for: pause.next(lease: configuration.lease))
        }
    }

    private func note(_ reason: WorkerStuck) {
        if reason.endsWorker { stuck.withLock { $0 = $0 ?? reason } }
        onEvent(.stuck(reason))
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
            operations: operations.mapValues(\.defaults)
        )
    }

    /// Registers on all queues, for as long as it takes. Answers `false` when the worker was asked to leave meanwhile.
    private func register(_ session: Session) async throws(BrokerError) -> Bool {
        for queue in session.queues {
            try await insist(on: queue, [.notReachable, .outcomeUnknown, .full]) { () throws(BrokerError) in
                try await self.broker.register(session, on: queue)
            }
        }
        return !shutdown.isRequested
    }

    /// Puts a schedule to the broker. One that the broker does not want is no reason not to work.
    private func put(_ schedule: Schedule) async throws(BrokerError) {
        let metadata: Logger.Metadata = ["schedule": "\(schedule.name)", "job.queue": "\(schedule.queue)"]
        do throws(BrokerError) {
            try await insist(on: schedule.queue, [.notReachable, .outcomeUnknown]) { () throws(BrokerError) in
                switch try await self.broker.put(schedule) {
                case .unchanged: break
                case .created: self.logger.info("schedule created", metadata: metadata)
                case .changed: self.logger.info("schedule changed", metadata: metadata)
                case .outdated(let revision):
                    let stored = try await (self.broker as? any SchedulingBroker)?.schedule(
                        schedule.name,
                        on: schedule.queue
                    )
                    self.logger.warning("\(schedule.leftOut(for: stored, revision))", metadata: metadata)
                }
            }
        } catch {
            guard [.refused, .full].contains(error.code) else { throw error }
            self.logger.error("schedule not stored", metadata: metadata.merging(["error": "\(error)"]) { $1 })
        }
    }

    /// Tries on while the broker cannot be reached, until the worker is asked to leave.
    private func insist(
        on queue: String,
        _ passing: [BrokerError.Code],
        _ call: () async throws(BrokerError) -> Void
    ) async throws(BrokerError) {
        var pause = Duration.milliseconds(50)
        var isWaiting = false
        while !shutdown.isRequested {
            do throws(BrokerError) { return try await call() } catch {
                guard passing.contains(error.code) else { throw error }
                logger.debug("not registered", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
                if !isWaiting { onEvent(.waitingForBroker(error)) }
                isWaiting = true
            }
            await shutdown.signal.wait(for: pause)
            pause = min(pause * 2, .seconds(2))
        }
    }
}

/// What a worker tells of itself.
public enum WorkerEvent: Sendable {
    /// It is known to the broker and claims jobs.
    case registered(Session)
    /// The broker does not know its session any more; it registers a new one.
    case sessionLost(Session)
    /// The broker cannot be reached; it tries on.
    case waitingForBroker(BrokerError)
    /// Handlers do not come back. A process that does nothing but work had better end now and be started anew: where they
    /// block every thread of the task pool, nothing else will.
    case stuck(WorkerStuck)
}

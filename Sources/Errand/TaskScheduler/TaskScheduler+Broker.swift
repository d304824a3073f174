public import Backgroundable
public import Logging

/// Schedulers whose requests wait on a broker.
///
/// The calls are those of a local scheduler. A request outlives the process that submitted it, and any worker that
/// registered its identifier runs it: one task of an identifier at a time among all of them. A task that did not
/// succeed is a dead job, kept until a person retries or deletes it.
///
/// A request whose time has come while a task of its identifier runs is tried again every second; for the moment of
/// such a try it is not among the pending ones. Dates are compared with the broker's clock.
///
/// ```swift
/// let scheduler = TaskScheduler(broker: broker, permittedIdentifiers: ["prices.refresh"], logger: logger)
/// scheduler.register(forTaskWithIdentifier: "prices.refresh", using: nil) { task in
///     prices.load { task.setTaskCompleted(success: $0) }
/// }
/// try await scheduler.submit(AppRefreshTaskRequest(identifier: "prices.refresh"))
/// try await ServiceGroup(services: [try scheduler.makeWorker()], logger: logger).run()
/// ```
extension TaskScheduler {
    /// Makes a scheduler whose requests wait on a broker.
    ///
    /// - Parameters:
    ///   - broker: Where the requests wait.
    ///   - queue: The broker's queue for them. Let no other jobs share it: listing the requests looks at every job that
    ///     waits there, and taking all of them back means those of every process that uses the queue.
    ///   - permittedIdentifiers: The identifiers that may be registered and submitted, each of 1 to 121 characters of
    ///     `A-Z a-z 0-9 _ . -`.
    ///   - allowances: How long tasks may take, settled by the worker that launches them. At most 365 days, which is
    ///     also what "forever" means here.
    ///   - logger: Is told why something could not be done where no error can be thrown.
    public convenience init(
        broker: any Broker,
        queue: String = "tasks",
        permittedIdentifiers: Set<String>,
        allowances: TaskAllowances = TaskAllowances(),
        logger: Logger = Logger(label: "errand.tasks")
    ) {
        let place = TaskPlace(broker: broker, queue: queue, logger: logger)
        self.init(
            permittedIdentifiers: permittedIdentifiers,
            allowances: allowances,
            backlog: BrokerTasks(place)
        )
    }

    /// What a worker must know to run the tasks whose handlers are registered now, for a ``Worker`` of one's own that
    /// serves the scheduler's queue: two operations for each identifier.
    ///
    /// A worker that tells a task to stop waits for it only for its `stopGrace`: 5.5 s leaves a task its full time. A
    /// local scheduler has none.
    public var operations: [RegisteredOperation] {
        guard let tasks = backlog as? BrokerTasks else { return [] }
        return registry.registered.flatMap { identifier in
            [
                TaskLaunch(identifier: identifier, place: tasks.place, allowances: registry.allowances).operation,
                TaskExecution(identifier: identifier, registry: registry).operation,
            ]
        }
    }

    /// Makes a worker, a service of `ServiceLifecycle`, that runs the tasks whose handlers are registered now.
    ///
    /// - Parameters:
    ///   - concurrency: How many tasks run at once.
    ///   - lease: After which time without a sign of life a worker counts as dead, and its tasks go to others.
    ///   - grace: How long a graceful shutdown may take in all; tasks that still run near its end are told to stop.
    ///   - onEvent: As for `Worker`.
    /// - Throws: `TaskScheduler.Error` `unavailable` for a local scheduler, which needs no worker.
    public func makeWorker(
        concurrency: Int = 8,
        lease: Duration = .seconds(30),
        grace: Duration = .seconds(25),
        onEvent: @escaping @Sendable (WorkerEvent) -> Void = { _ in }
    ) throws -> Worker {
        guard let tasks = backlog as? BrokerTasks else {
            throw Error(.unavailable, "this scheduler keeps its requests in the process and runs them without a worker")
        }
        return Worker(
            broker: tasks.place.broker,
            configuration: WorkerConfiguration(
                queues: [WorkerConfiguration.QueueShare(tasks.place.queue)],
                concurrency: concurrency,
                lease: lease,
                grace: grace,
                stopGrace: .milliseconds(5500)
            ),
            operations: operations,
            logger: tasks.place.logger,
            onEvent: onEvent
        )
    }
}

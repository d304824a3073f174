public import Backgroundable
public import Logging

/// Schedulers whose requests wait on a broker.
///
/// The calls are those of a local scheduler. A request outlives the process that submitted it, and any worker that has
/// registered its identifier runs it; an identifier has only one task at a time among all workers. A task that did not
/// succeed is a dead job, which is kept until it is retried or deleted by hand.
///
/// A request that is due while a task of its identifier runs is tried again every second; during such an attempt it is
/// not among the pending requests. Dates are compared with the broker's clock.
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
    ///   - broker: The broker that stores the requests.
    ///   - queue: The broker's queue for them. It should have no other jobs: listing the requests reads every job that
    ///     waits there, and cancelling all requests affects those of every process that uses the queue.
    ///   - permittedIdentifiers: The identifiers that may be registered and submitted, each of 1 to 121 characters of
    ///     `A-Z a-z 0-9 _ . -`.
    ///   - allowances: How long tasks may take, as set by the worker that launches them. At most 365 days, which is
    ///     also what "forever" means here.
    ///   - logger: The logger for failures of calls that cannot throw.
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

    /// The operations that run the tasks whose handlers are registered now, two for each identifier. For a ``Worker``
    /// of your own that serves the scheduler's queue.
    ///
    /// A worker waits only for its `stopGrace` for a task that it asks to stop; 5.5 s leaves a task its full time. A
    /// local scheduler has no operations.
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
    ///   - concurrency: The number of tasks that run at the same time.
    ///   - lease: How long a worker may send no heartbeat before it counts as dead and other workers get its tasks.
    ///   - grace: How long a graceful shutdown may take in total; tasks that still run near its end are asked to stop.
    ///   - onEvent: As for `Worker`.
    /// - Throws: `TaskScheduler.Error` `unavailable` for a local scheduler, which needs no worker.
    public func makeWorker(
        concurrency: Int = 8,
        lease: Duration = .seconds(30),
        grace: Duration = .seconds(25),
        onEvent: @escaping @Sendable (WorkerEvent) -> Void = { _ in }
    ) throws -> Worker {
        guard let tasks = backlog as? BrokerTasks else {
            throw Error(
                .unavailable,
                "this scheduler keeps its requests in the process and runs them without a worker; make it with a broker to use "
                    + "workers"
            )
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

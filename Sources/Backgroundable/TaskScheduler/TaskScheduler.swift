public import Foundation

/// Launches tasks that were requested for later, and calls the handlers that were registered for them.
///
/// Permit identifiers, register a handler for each, and submit requests. A request waits until its date; then the
/// handler gets a ``ScheduledTask`` and reports when it is done. At most one request of an identifier waits, a newer
/// one takes the place of the older, and at most one task of an identifier runs.
///
/// ```swift
/// let scheduler = TaskScheduler.shared
/// scheduler.permit(["prices.refresh"])
/// scheduler.register(forTaskWithIdentifier: "prices.refresh", using: nil) { task in
///     let next = AppRefreshTaskRequest(identifier: "prices.refresh")
///     next.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 30)
///     try? scheduler.submit(next)
///     task.expirationHandler = { prices.stop() }
///     prices.load { task.setTaskCompleted(success: $0) }
/// }
/// try scheduler.submit(AppRefreshTaskRequest(identifier: "prices.refresh"))
/// ```
///
/// The schedulers made here keep requests in the process: they are gone when it ends. Until then a scheduler that has
/// work left lives on, whether or not anybody holds it. All of its methods are safe on any thread.
public final class TaskScheduler: Sendable {
    /// The process's own scheduler, on `OperationQueue.background`.
    ///
    /// Permitted are the identifiers that the main bundle's property list names under
    /// `BGTaskSchedulerPermittedIdentifiers`, and those given to ``permit(_:)``.
    public static let shared = TaskScheduler(permittedIdentifiers: TaskRegistry.identifiersInPropertyList)

    package let registry: TaskRegistry
    package let backlog: any TaskBacklog

    init(registry: TaskRegistry, backlog: any TaskBacklog) {
        self.registry = registry
        self.backlog = backlog
    }

    /// Makes a scheduler whose requests wait elsewhere.
    package convenience init(
        permittedIdentifiers: Set<String>,
        allowances: TaskAllowances,
        backlog: any TaskBacklog
    ) {
        self.init(registry: TaskRegistry(permitted: permittedIdentifiers, allowances: allowances), backlog: backlog)
    }

    /// Makes a scheduler whose tasks run in this process.
    ///
    /// - Parameters:
    ///   - permittedIdentifiers: The identifiers that may be registered and submitted; ``permit(_:)`` adds to them.
    ///   - queue: Where tasks run, each as one operation that ends with the task: the queue's limits and suspension
    ///     count. Cancelling such an operation tells the task to stop; before it began, it takes the request back.
    ///   - allowances: How long tasks may take, from when the queue starts them.
    public convenience init(
        permittedIdentifiers: Set<String>,
        queue: BackgroundQueue = OperationQueue.background,
        allowances: TaskAllowances = TaskAllowances()
    ) {
        let registry = TaskRegistry(permitted: permittedIdentifiers, allowances: allowances)
        self.init(registry: registry, backlog: LocalTasks(registry: registry, queue: queue))
    }

    /// Permits identifiers, as the property list's `BGTaskSchedulerPermittedIdentifiers` does on Apple's systems.
    public func permit(_ identifiers: Set<String>) {
        registry.permit(identifiers)
    }

    /// Registers the handler for an identifier.
    ///
    /// Requests of the identifier that were submitted before are launched now, if their time has come.
    ///
    /// - Parameters:
    ///   - identifier: A permitted identifier.
    ///   - queue: Where the handler is called; nil for a thread of the scheduler's queue.
    ///   - launchHandler: Gets the task, and makes sure that somebody calls ``ScheduledTask/setTaskCompleted(success:)``
    ///     on it.
    /// - Returns: Whether it was registered: false for an identifier that is not permitted, that has a handler already,
    ///   or that a scheduler on a broker cannot use.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue?,
        launchHandler: @escaping @Sendable (ScheduledTask) -> Void
    ) -> Bool {
        let registration = TaskRegistration(queue: queue, handler: launchHandler)
        guard backlog.accepts(identifier), registry.register(registration, for: identifier) else { return false }
        backlog.noteRegistration(of: identifier)
        return true
    }

    /// Called when a task that ran in this process has ended, with its identifier and whether it succeeded, on any
    /// thread. It must be quick and must not block. The newest one counts.
    public var onCompletion: (@Sendable (_ identifier: String, _ success: Bool) -> Void)? {
        get { registry.onCompletion }
        set { registry.onCompletion = newValue }
    }
}

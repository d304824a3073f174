public import Foundation

/// Launches tasks that were requested for later, and calls their registered handlers.
///
/// Permit identifiers, register a handler for each, and submit requests. A request is pending until its date. Then the
/// handler receives a ``ScheduledTask`` and reports when it is done. Each identifier has at most one pending request,
/// which a newer one replaces, and at most one running task.
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
/// A scheduler that is created here keeps its requests in memory; they are lost when the process ends. A scheduler with
/// work left stays alive without other references to it. All methods can be called on any thread.
public final class TaskScheduler: Sendable {
    /// The shared scheduler of the process, on `OperationQueue.background`.
    ///
    /// It permits the identifiers that the main bundle's property list has under `BGTaskSchedulerPermittedIdentifiers`,
    /// and those passed to ``permit(_:)``.
    public static let shared = TaskScheduler(permittedIdentifiers: TaskRegistry.identifiersInPropertyList)

    package let registry: TaskRegistry
    package let backlog: any TaskBacklog

    init(registry: TaskRegistry, backlog: any TaskBacklog) {
        self.registry = registry
        self.backlog = backlog
    }

    /// Creates a scheduler whose requests are stored in the given backlog.
    package convenience init(
        permittedIdentifiers: Set<String>,
        allowances: TaskAllowances,
        backlog: any TaskBacklog
    ) {
        self.init(registry: TaskRegistry(permitted: permittedIdentifiers, allowances: allowances), backlog: backlog)
    }

    /// Creates a scheduler whose tasks run in this process.
    ///
    /// - Parameters:
    ///   - permittedIdentifiers: The identifiers that can be registered and submitted. ``permit(_:)`` adds more.
    ///   - queue: The queue on which tasks run. Each task is one operation, which ends with the task, and the queue's
    ///     limits and suspension apply. Cancelling the operation expires a running task, or cancels a request that has
    ///     not begun.
    ///   - allowances: How long tasks may run, counted from when the queue starts them.
    public convenience init(
        permittedIdentifiers: Set<String>,
        queue: BackgroundQueue = OperationQueue.background,
        allowances: TaskAllowances = TaskAllowances()
    ) {
        let registry = TaskRegistry(permitted: permittedIdentifiers, allowances: allowances)
        self.init(registry: registry, backlog: LocalTasks(registry: registry, queue: queue))
    }

    /// Permits identifiers, like `BGTaskSchedulerPermittedIdentifiers` in the property list on Apple's systems.
    public func permit(_ identifiers: Set<String>) {
        registry.permit(identifiers)
    }

    /// Registers the handler for an identifier.
    ///
    /// Requests of the identifier that were submitted before are launched now if they are due.
    ///
    /// - Parameters:
    ///   - identifier: A permitted identifier.
    ///   - queue: The queue on which the handler is called, or nil for a thread of the scheduler's queue.
    ///   - launchHandler: Receives the task, and must make sure that ``ScheduledTask/setTaskCompleted(success:)`` is
    ///     called on it.
    /// - Returns: Whether the handler was registered. False if the identifier is not permitted, already has a handler,
    ///   or cannot be used by a scheduler on a broker.
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

    /// Called on any thread when a task that ran in this process has ended, with its identifier and whether it
    /// succeeded. The closure must be quick and must not block. Setting it replaces the previous one.
    public var onCompletion: (@Sendable (_ identifier: String, _ success: Bool) -> Void)? {
        get { registry.onCompletion }
        set { registry.onCompletion = newValue }
    }
}

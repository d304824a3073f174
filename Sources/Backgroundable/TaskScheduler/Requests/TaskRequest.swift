public import Foundation

/// A request to launch a task once, for a ``TaskScheduler``.
///
/// Create an ``AppRefreshTaskRequest`` for short work, or a ``ProcessingTaskRequest`` for work that may take minutes.
/// The scheduler copies a submitted request: later changes affect only the next submission.
///
/// Unchecked because it has subclasses. All mutable state is locked.
public class TaskRequest: @unchecked Sendable, CustomStringConvertible {
    let terms: Locked<RequestedTask>

    /// The identifier of the task. The scheduler calls the handler that was registered for it.
    public let identifier: String

    init(_ requested: RequestedTask) {
        identifier = requested.identifier
        terms = Locked(requested)
    }

    /// The earliest date of the launch, by the wall clock. Nil or a past date means as soon as possible. The launch may
    /// be later, because the limits of the queue apply.
    public final var earliestBeginDate: Date? {
        get { terms.withLock { $0.earliestBeginDate } }
        set { terms.withLock { $0.earliestBeginDate = newValue } }
    }

    /// A description of the request for log texts.
    public final var description: String {
        let requested = copy
        let begin = requested.earliestBeginDate.map { ", not before \($0)" } ?? ""
        return "\(requested.kind.name) request \"\(identifier)\"\(begin)"
    }

    /// The current values of the request.
    package final var copy: RequestedTask {
        terms.withLock { $0 }
    }
}

/// A request to launch a short task that refreshes data.
///
/// ```swift
/// let request = AppRefreshTaskRequest(identifier: "prices.refresh")
/// request.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 30)
/// try TaskScheduler.shared.submit(request)
/// ```
///
/// Unchecked for the same reason as its superclass. It has no variables.
public final class AppRefreshTaskRequest: TaskRequest, @unchecked Sendable {
    /// Creates a request to launch the task as soon as possible.
    public init(identifier: String) {
        super.init(RequestedTask(identifier, .refresh))
    }

    init(copying requested: RequestedTask) {
        super.init(requested)
    }
}

/// A request to launch a task that may take minutes.
///
/// Unchecked for the same reason as its superclass. It has no variables.
public final class ProcessingTaskRequest: TaskRequest, @unchecked Sendable {
    /// Creates a request to launch the task as soon as possible.
    public init(identifier: String) {
        super.init(RequestedTask(identifier, .processing))
    }

    init(copying requested: RequestedTask) {
        super.init(requested)
    }

    /// Whether the task needs the network. The value is stored and shown, but has no effect: servers are assumed to
    /// have it.
    public var requiresNetworkConnectivity: Bool {
        get { terms.withLock { $0.requiresNetworkConnectivity } }
        set { terms.withLock { $0.requiresNetworkConnectivity = newValue } }
    }

    /// Whether the task needs external power. The value is stored and shown, but has no effect: servers are assumed to
    /// have it.
    public var requiresExternalPower: Bool {
        get { terms.withLock { $0.requiresExternalPower } }
        set { terms.withLock { $0.requiresExternalPower = newValue } }
    }
}

public import Foundation

/// A wish that a task be launched, once, for a ``TaskScheduler``.
///
/// Make one of its two kinds: an ``AppRefreshTaskRequest`` for short work, or a ``ProcessingTaskRequest`` for work that
/// may take minutes. Submitting takes a copy: what is changed afterwards counts for the next submit only.
///
/// Unchecked because it has subclasses; everything that changes here is in a lock.
public class TaskRequest: @unchecked Sendable, CustomStringConvertible {
    let terms: Locked<RequestedTask>

    /// The task's identifier: the handler that was registered for it will be called.
    public let identifier: String

    init(_ requested: RequestedTask) {
        identifier = requested.identifier
        terms = Locked(requested)
    }

    /// The task is not launched before this date, by the wall clock; nil, and a date that has passed, mean as soon as
    /// possible. It may be launched later: a queue's limits come first.
    public final var earliestBeginDate: Date? {
        get { terms.withLock { $0.earliestBeginDate } }
        set { terms.withLock { $0.earliestBeginDate = newValue } }
    }

    /// The request for people.
    public final var description: String {
        let requested = copy
        let begin = requested.earliestBeginDate.map { ", not before \($0)" } ?? ""
        return "\(requested.kind.name) request \"\(identifier)\"\(begin)"
    }

    /// What it asks for now.
    package final var copy: RequestedTask {
        terms.withLock { $0 }
    }
}

/// A request to launch a short task that refreshes something.
///
/// ```swift
/// let request = AppRefreshTaskRequest(identifier: "prices.refresh")
/// request.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 30)
/// try TaskScheduler.shared.submit(request)
/// ```
///
/// Unchecked for the reason of its superclass; there is no variable here.
public final class AppRefreshTaskRequest: TaskRequest, @unchecked Sendable {
    /// Makes a request that wants its task launched as soon as possible.
    public init(identifier: String) {
        super.init(RequestedTask(identifier, .refresh))
    }

    init(copying requested: RequestedTask) {
        super.init(requested)
    }
}

/// A request to launch a task that may take minutes.
///
/// Unchecked for the reason of its superclass; there is no variable here.
public final class ProcessingTaskRequest: TaskRequest, @unchecked Sendable {
    /// Makes a request that wants its task launched as soon as possible.
    public init(identifier: String) {
        super.init(RequestedTask(identifier, .processing))
    }

    init(copying requested: RequestedTask) {
        super.init(requested)
    }

    /// Whether the task needs the network. It is kept and shown, and changes nothing: a server is taken to have it.
    public var requiresNetworkConnectivity: Bool {
        get { terms.withLock { $0.requiresNetworkConnectivity } }
        set { terms.withLock { $0.requiresNetworkConnectivity = newValue } }
    }

    /// Whether the task needs external power. It is kept and shown, and changes nothing: a server is taken to have it.
    public var requiresExternalPower: Bool {
        get { terms.withLock { $0.requiresExternalPower } }
        set { terms.withLock { $0.requiresExternalPower = newValue } }
    }
}

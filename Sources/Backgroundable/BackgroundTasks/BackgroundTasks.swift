public import Foundation

/// Keeps the process alive while work is in progress, like the background tasks of `UIApplication`, but for servers.
///
/// Begin a task before the work and end it afterwards. When SIGTERM arrives, the process continues until the last task
/// has ended and then exits with status 0. The expiration handlers of the remaining tasks are called shortly before the
/// time is up. When it is up, the process exits with status 143, even if work still runs or blocks.
///
/// ```swift
/// let task = BackgroundTasks.shared.beginBackgroundTask(withName: "upload") { upload.giveUp() }
/// upload.whenDone { BackgroundTasks.shared.endBackgroundTask(task) }
/// ```
///
/// The first task installs a handler for SIGTERM, but only if the process neither handles nor ignores the signal. A
/// program that handles it sets ``leavesOnTermination`` to false and calls ``waitForAll(within:)``. Before the first
/// task, SIGTERM terminates the process immediately. After a second SIGTERM the process exits immediately with status
/// 143. Other signals are not changed, and child processes do not inherit the handler.
///
/// All methods can be called on any thread and are cheap: beginning and ending a task take two short locks.
public final class BackgroundTasks: Sendable {
    /// The background tasks of the process.
    public static let shared: BackgroundTasks = .init(
        signal: TerminationSignal { BackgroundTasks.shared.terminate() },
        leave: { departure, end in departure.leaveProcess(end: end) }
    )

    let state = Locked(BackgroundTasksState())
    /// Wakes the thread that serves the countdown.
    let alarm = Alarm()
    /// Exits the process. The number is the time at which it must have exited.
    let leave: @Sendable (ProcessExit, UInt64) -> Void
    private let signal: TerminationSignal?

    /// Creates a separate set of tasks, for which `leave` exits the process. Without a `signal` it does not react to
    /// SIGTERM.
    init(signal: TerminationSignal? = nil, leave: @escaping @Sendable (ProcessExit, UInt64) -> Void) {
        self.signal = signal
        self.leave = leave
    }

    // MARK: Tasks

    /// Begins a task. After SIGTERM, the process does not exit before the task has ended or its time to exit is over.
    ///
    /// - Parameters:
    ///   - name: The name of the task, for ``taskNames``.
    ///   - expirationHandler: Called once if the task has not ended ``expirationLead`` seconds before time is up. It
    ///     should stop the work and then end the task as its last step, because the process may exit from then on. The
    ///     handlers are called on a separate thread, newest task first and one after the other; if one blocks, the
    ///     others are called on a further thread.
    /// - Returns: The identifier that ends the task, or ``BackgroundTaskIdentifier/invalid`` once expiration has begun.
    ///   In that case, do not begin the work.
    public func beginBackgroundTask(
        withName name: String? = nil,
        expirationHandler: (@Sendable () -> Void)? = nil
    ) -> BackgroundTaskIdentifier {
        begin(BackgroundTaskSlots.Belongings(name: name, expirationHandler: expirationHandler))
    }

    /// Begins the task of a busy queue. Expiration cancels the operations of the queue.
    func beginBackgroundTask(of queue: BackgroundQueue) -> BackgroundTaskIdentifier {
        begin(BackgroundTaskSlots.Belongings(name: "background queue", queue: queue))
    }

    private func begin(_ belongings: BackgroundTaskSlots.Belongings) -> BackgroundTaskIdentifier {
        let (identifier, isFirst) = state.withLock { $0.begin(belongings) }
        if isFirst { settleSignal() }
        return identifier
    }

    /// Ends a task. Does nothing if the task has already ended or the identifier is invalid.
    public func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        // The handler is released outside the lock, because that may run user code.
        let (belongings, isAwaited) = state.withLock { $0.end(identifier) }
        if isAwaited { alarm.ring() }
        withExtendedLifetime(belongings) {}
    }

    /// The number of current tasks.
    public var taskCount: Int {
        state.withLock { $0.tasks.count }
    }

    /// The names of the current tasks, oldest first; nil for tasks without one. For logs: the cost grows with the
    /// number of tasks.
    public var taskNames: [String?] {
        state.withLock { $0.tasks.names }
    }

    // MARK: Settings

    /// How long the process may run after SIGTERM, in seconds. The default is 25. Negative and NaN values count as
    /// zero; infinity means until the last task has ended. Changes after the signal have no effect.
    ///
    /// Choose a value below the time after which the supervisor kills the process (30 s on Kubernetes, 10 s for
    /// `docker stop`).
    public var grace: TimeInterval {
        get { state.withLock { $0.grace } }
        set { state.withLock { $0.grace = newValue > 0 ? newValue : 0 } }
    }

    /// How long before the time is up the remaining tasks expire, in seconds. The default is 5. Negative and NaN values
    /// count as zero, values above the time itself as that. Changes after the signal have no effect.
    public var expirationLead: TimeInterval {
        get { state.withLock { $0.expirationLead } }
        set { state.withLock { $0.expirationLead = newValue > 0 ? newValue : 0 } }
    }

    /// Whether SIGTERM makes the process exit as described above. The default is true.
    ///
    /// Set it to false in programs that handle SIGTERM themselves. It can be set at any time. If the signal handler is
    /// already installed, it is replaced by the system's default, and a process that was about to exit stays. Setting
    /// it to true installs the handler again, under the same condition as at first.
    public var leavesOnTermination: Bool {
        get { state.withLock { $0.leavesOnTermination } }
        set {
            state.withLock { $0.leavesOnTermination = newValue }
            settleSignal()
            alarm.ring()
        }
    }

    private func settleSignal() {
        signal?.settle { state.withLock { $0.leavesOnTermination && $0.hasBegun } }
    }
}

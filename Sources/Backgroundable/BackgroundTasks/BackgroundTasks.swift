public import Foundation

/// Keeps the process from leaving while work is under way: `UIApplication`'s background tasks, for servers.
///
/// Begin a task before the work and end it afterwards. When SIGTERM asks the process to leave, it goes on until the
/// last task has ended and then exits with status 0. Tasks that are not ended in time are told shortly before, by
/// their expiration handlers; when time is up the process exits with status 143, whatever still runs or blocks.
///
/// ```swift
/// let task = BackgroundTasks.shared.beginBackgroundTask(withName: "upload") { upload.giveUp() }
/// upload.whenDone { BackgroundTasks.shared.endBackgroundTask(task) }
/// ```
///
/// The first task that begins takes SIGTERM over, but only if nobody else in the process handles or ignores it: such
/// hosts set ``leavesOnTermination`` to false and call ``waitForAll(within:)``. Before the first task SIGTERM ends the
/// process at once, as ever. A second SIGTERM does not wait for anything: the process leaves at once, with status 143.
/// Other signals are not touched, and child processes inherit nothing of this.
///
/// All of its methods are safe on any thread and cheap: beginning and ending a task costs two short locks.
public final class BackgroundTasks: Sendable {
    /// The tasks of this process.
    public static let shared: BackgroundTasks = .init(
        signal: TerminationSignal { BackgroundTasks.shared.terminate() },
        leave: { departure, end in departure.leaveProcess(end: end) }
    )

    let state = Locked(BackgroundTasksState())
    /// Wakes the thread that serves the countdown.
    let alarm = Alarm()
    /// Leaves the process; the number is when time is up.
    let leave: @Sendable (ProcessExit, UInt64) -> Void
    private let signal: TerminationSignal?

    /// Tasks of their own, for which the process leaves by `leave`, and which hear of no signal unless one is given.
    init(signal: TerminationSignal? = nil, leave: @escaping @Sendable (ProcessExit, UInt64) -> Void) {
        self.signal = signal
        self.leave = leave
    }

    // MARK: Tasks

    /// Begins a task: the process does not leave before it has ended or time is up.
    ///
    /// - Parameters:
    ///   - name: What the task is, for ``taskNames``.
    ///   - expirationHandler: Called once if the task is still there ``expirationLead`` seconds before time is up. It
    ///     should stop the work and end the task, which counts from that moment on: end it last. The handlers are
    ///     called on a thread of their own, newest task first and one after the other; the rest do not wait for one
    ///     that blocks.
    /// - Returns: What ends the task; ``BackgroundTaskIdentifier/invalid`` once expiration has begun: the work should
    ///   not be begun then.
    public func beginBackgroundTask(
        withName name: String? = nil,
        expirationHandler: (@Sendable () -> Void)? = nil
    ) -> BackgroundTaskIdentifier {
        begin(BackgroundTaskSlots.Belongings(name: name, expirationHandler: expirationHandler))
    }

    /// Begins the task of a queue that is busy: expiration cancels what is in it.
    func beginBackgroundTask(of queue: BackgroundQueue) -> BackgroundTaskIdentifier {
        begin(BackgroundTaskSlots.Belongings(name: "background queue", queue: queue))
    }

    private func begin(_ belongings: BackgroundTaskSlots.Belongings) -> BackgroundTaskIdentifier {
        let (identifier, isFirst) = state.withLock { $0.begin(belongings) }
        if isFirst { settleSignal() }
        return identifier
    }

    /// Ends a task. Does nothing if it has ended already, or for an identifier of none.
    public func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        // Outside the lock the handler is let go of: what it captured may run other people's code.
        let (belongings, isAwaited) = state.withLock { $0.end(identifier) }
        if isAwaited { alarm.ring() }
        withExtendedLifetime(belongings) {}
    }

    /// How many tasks are under way.
    public var taskCount: Int {
        state.withLock { $0.tasks.count }
    }

    /// The names of the tasks that are under way, oldest first; nil for those without one. For logs: the more tasks
    /// there are the longer it takes.
    public var taskNames: [String?] {
        state.withLock { $0.tasks.names }
    }

    // MARK: Settings

    /// How long the process may stay after SIGTERM, in seconds: 25 unless set. Negative and undefined values count as
    /// zero; infinite means until the last task has ended. Changes after the signal have no effect.
    ///
    /// Choose less than what the supervisor waits before it kills (30 s on Kubernetes, 10 s under `docker stop`).
    public var grace: TimeInterval {
        get { state.withLock { $0.grace } }
        set { state.withLock { $0.grace = newValue > 0 ? newValue : 0 } }
    }

    /// How long before time is up the tasks that are still there expire, in seconds: 5 unless set. Negative and
    /// undefined values count as zero, longer ones than the time itself as that. Changes after the signal have no
    /// effect.
    public var expirationLead: TimeInterval {
        get { state.withLock { $0.expirationLead } }
        set { state.withLock { $0.expirationLead = newValue > 0 ? newValue : 0 } }
    }

    /// Whether SIGTERM makes the process leave as described above: true unless set.
    ///
    /// False is for hosts that handle SIGTERM themselves. It may be set at any time; if the signal was taken over
    /// already it is given back, to the system's default, and a process that was about to leave stays. True again
    /// takes the signal over again, under the same condition as at first.
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

package import Dispatch

/// One launch of a task, from before its handler is called until its end, which is reported exactly once.
package final class TaskRun: Sendable {
    private struct State {
        var deadlines: [Deadline] = []
        var background: BackgroundTaskIdentifier?
        var isOver = false
    }

    private let task: ScheduledTask
    private let allowance: Duration?
    private let onEnd: @Sendable (_ success: Bool) -> Void
    private let backgroundTasks: BackgroundTasks?
    private let state = Locked(State())

    /// Creates a run without starting it.
    ///
    /// - Parameters:
    ///   - requested: The request to run.
    ///   - allowance: How long the task may run, or nil for no limit.
    ///   - backgroundTasks: Keeps the process alive during the run. Nil if the caller does that.
    ///   - onEnd: Called once, on any thread. It must be quick, because that may be the deadline timer's thread.
    package init(
        _ requested: RequestedTask,
        allowance: Duration?,
        backgroundTasks: BackgroundTasks? = nil,
        onEnd: @escaping @Sendable (_ success: Bool) -> Void
    ) {
        task = requested.makeTask()
        self.allowance = allowance
        self.backgroundTasks = backgroundTasks
        self.onEnd = onEnd
        task.whenCompleted { [self] success in end(success) }
    }

    /// Starts the allowance and calls the handler: on its own queue, else on `queue`, else on this thread.
    package func begin(_ registration: TaskRegistration, on queue: DispatchQueue? = nil) {
        guard !state.withLock({ $0.isOver }) else { return }
        holdTheProcess()
        if let allowance {
            arm(allowance - TaskAllowances.lead(of: allowance)) { [task] in task.expire() }
            arm(allowance) { [task] in task.setTaskCompleted(success: false) }
        }
        registration.launch(task, otherwise: queue)
    }

    /// Expires the task. If it has not ended after the lead time, the run ends without success.
    package func stop() {
        task.expire()
        arm(TaskAllowances.lead(of: allowance)) { [task] in task.setTaskCompleted(success: false) }
    }

    /// Ends the run without success, unless it has ended.
    package func giveUp() {
        task.setTaskCompleted(success: false)
    }

    private func holdTheProcess() {
        guard let backgroundTasks else { return }
        let background = backgroundTasks.beginBackgroundTask(withName: task.identifier) { [task] in task.expire() }
        guard background != .invalid else { return task.expire() }
        let isOver = state.withLock { state in
            if !state.isOver { state.background = background }
            return state.isOver
        }
        if isOver { backgroundTasks.endBackgroundTask(background) }
    }

    private func arm(_ span: Duration, _ action: @escaping @Sendable () -> Void) {
        let deadline = DeadlineTimer.shared.schedule(after: span, action)
        let isOver = state.withLock { state in
            if !state.isOver { state.deadlines.append(deadline) }
            return state.isOver
        }
        if isOver { deadline.cancel() }
    }

    private func end(_ success: Bool) {
        let (deadlines, background) = state.withLock { state in
            state.isOver = true
            defer { state.deadlines = [] }
            return (state.deadlines, state.background.take())
        }
        for deadline in deadlines { deadline.cancel() }
        onEnd(success)
        // This comes last, because the process may exit then.
        if let background { backgroundTasks?.endBackgroundTask(background) }
    }
}

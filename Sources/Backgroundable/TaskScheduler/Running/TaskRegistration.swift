import Dispatch

/// What was registered for an identifier.
package struct TaskRegistration: Sendable {
    let queue: DispatchQueue?
    let handler: @Sendable (ScheduledTask) -> Void

    /// Calls the handler on its queue, or else on another, or else here.
    func launch(_ task: ScheduledTask, otherwise other: DispatchQueue?) {
        guard let queue = queue ?? other else { return handler(task) }
        queue.async { handler(task) }
    }
}

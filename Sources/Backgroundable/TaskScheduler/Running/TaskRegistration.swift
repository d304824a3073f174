import Dispatch

/// The handler of an identifier and its queue.
package struct TaskRegistration: Sendable {
    let queue: DispatchQueue?
    let handler: @Sendable (ScheduledTask) -> Void

    /// Calls the handler on its queue, else on `other`, else on this thread.
    func launch(_ task: ScheduledTask, otherwise other: DispatchQueue?) {
        guard let queue = queue ?? other else { return handler(task) }
        queue.async { handler(task) }
    }
}

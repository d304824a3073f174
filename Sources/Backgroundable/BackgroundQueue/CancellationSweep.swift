import Foundation

/// Cancels several operations so that none of them starts because another one was cancelled first.
///
/// Cancelling a running ``AsyncOperation`` ends it at once, which frees its place in its queue and releases what depends on
/// it. So everything that has not started, parts of running groups included, is decided on before anything ends.
struct CancellationSweep {
    /// Queues that start nothing while this is decided on.
    private var held: [BackgroundQueue] = []
    /// Waiting operations whose cancellation is reserved.
    private var reserved: [AsyncOperation] = []

    /// Cancels operations of `queue`. Returns when each has been cancelled; those that run may go on.
    static func cancel(_ operations: [Operation], of queue: BackgroundQueue) {
        var sweep = CancellationSweep()
        sweep.reserve(operations, of: queue)
        sweep.release()
        for operation in operations where !operation.isCancelled || operation is AsyncOperation { operation.cancel() }
        sweep.end()
    }

    /// Decides that everything in the queues is cancelled, before any of it ends. ``BackgroundQueue/cancelAllOperations()``
    /// of each carries that out, and ``end()`` afterwards what is left.
    static func decide(on queues: [BackgroundQueue]) -> CancellationSweep {
        var sweep = CancellationSweep()
        for queue in queues { sweep.reserve(queue.members, of: queue) }
        sweep.release()
        return sweep
    }

    /// Ends what has been decided on and not cancelled: parts of groups, and operations whose own `cancel()` did not call
    /// this library's.
    func end() {
        for operation in reserved { operation.end(.cancelled) }
    }

    private mutating func release() {
        for queue in held { queue.holdStarts(false) }
        held = []
    }

    private mutating func reserve(_ operations: [Operation], of queue: BackgroundQueue) {
        queue.holdStarts(true)
        held.append(queue)
        for operation in operations {
            guard let operation = operation as? AsyncOperation else {
                // It leaves only when it starts, which its queue prevents.
                if !operation.isExecuting { operation.cancel() }
                continue
            }
            if operation.reserveCancellation() { reserved.append(operation) }
            if let group = operation as? GroupOperation { reserve(group.runningParts, of: group.queue) }
        }
    }
}

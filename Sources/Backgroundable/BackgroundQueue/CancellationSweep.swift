import Foundation

/// Cancels several operations so that none of them starts because another one was cancelled first.
///
/// Cancelling a running ``AsyncOperation`` ends it immediately, which frees its place in the queue and unblocks its
/// dependents. Therefore the cancellation of everything that has not started, including parts of running groups, is
/// decided before anything ends.
struct CancellationSweep {
    /// The queues that must not start operations until the cancellations are decided.
    private var held: [BackgroundQueue] = []
    /// The waiting operations whose cancellation is reserved.
    private var reserved: [AsyncOperation] = []

    /// Cancels operations of `queue`. Returns when all of them are cancelled; running closures may continue.
    static func cancel(_ operations: [Operation], of queue: BackgroundQueue) {
        var sweep = CancellationSweep()
        sweep.reserve(operations, of: queue)
        sweep.release()
        for operation in operations where !operation.isCancelled || operation is AsyncOperation { operation.cancel() }
        sweep.end()
    }

    /// Decides the cancellation of everything in the queues before any of it ends.
    ///
    /// Afterwards call ``BackgroundQueue/cancelAllOperations()`` on each queue, which carries that out, and then
    /// ``end()`` for the rest.
    static func decide(on queues: [BackgroundQueue]) -> CancellationSweep {
        var sweep = CancellationSweep()
        for queue in queues { sweep.reserve(queue.members, of: queue) }
        sweep.release()
        return sweep
    }

    /// Ends the operations whose cancellation was decided but not carried out: parts of groups, and operations whose
    /// own `cancel()` did not call that of this library.
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
                // The operation leaves only when its queue starts it, and starts are held.
                if !operation.isExecuting { operation.cancel() }
                continue
            }
            if operation.reserveCancellation() { reserved.append(operation) }
            if let group = operation as? GroupOperation { reserve(group.runningParts, of: group.queue) }
        }
    }
}

public import Foundation

extension OperationQueue {
    /// Adds operations of any kind that run one after the other, in this order.
    ///
    /// Each depends on the one before it. One that was cancelled or timed out counts as done: the next one runs. In a
    /// ``BackgroundQueue`` an operation that its uniqueness policy drops is left out of the line.
    ///
    /// - Parameters:
    ///   - operations: What to run. Other operations may run in between; two calls make two independent lines.
    ///   - wait: Whether to return only when all of them have finished.
    public func addSequentialOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        if let queue = self as? BackgroundQueue {
            queue.addInLine(operations, waitUntilFinished: wait)
        } else {
            #if !canImport(ObjectiveC)
                // Of a queue of ours they are watched anyway, and ours look after themselves.
                for operation in operations where !(operation is AsyncOperation) {
                    FinishWatcher.watch(operation) { operation.forgetDependenciesIfCancelled() }
                }
            #endif
            addOperations(operations.linedUp(), waitUntilFinished: wait)
        }
    }

    /// Adds operations and returns at once. Also for asynchronous code, which Foundation's own way, that may wait, is closed to.
    ///
    /// In a ``BackgroundQueue`` operations of one name that are added in the same call are not compared with each other.
    public func addOperations(_ operations: [Operation]) {
        addOperations(operations, waitUntilFinished: false)
    }

    /// Makes an ``AsyncOperation`` and adds it.
    ///
    /// ```swift
    /// queue.addAsyncOperation(name: "refresh", uniquenessPolicy: .drop) { operation in
    ///     load { operation.finish() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: What the operation is called, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and
    ///     infinite values mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there. Other
    ///     queues add it in any case.
    ///   - closure: The work. It gets the operation and makes sure that somebody calls `finish()` on it.
    /// - Returns: The operation, which has been added unless its policy dropped it.
    @discardableResult
    public func addAsyncOperation(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ closure: @escaping @Sendable (AsyncOperation) -> Void
    ) -> AsyncOperation {
        let operation = AsyncOperation(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy,
            closure
        )
        addOperation(operation)
        return operation
    }
}

extension [Operation] {
    /// The same operations, each depending on the one before it.
    func linedUp() -> [Operation] {
        for (earlier, later) in zip(self, dropFirst()) {
            later.addDependency(earlier)
        }
        return self
    }
}

public import Foundation

extension OperationQueue {
    /// Adds operations of any class that run one after the other, in this order.
    ///
    /// Each operation depends on the previous one. A cancelled or timed out operation does not stop the sequence. In a
    /// ``BackgroundQueue``, an operation that its uniqueness policy drops is not part of the sequence.
    ///
    /// - Parameters:
    ///   - operations: The operations to run. Other operations may run between them; two calls make two independent
    ///     sequences.
    ///   - wait: Whether to return only when all of them have finished.
    public func addSequentialOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        if let queue = self as? BackgroundQueue {
            queue.addInLine(operations, waitUntilFinished: wait)
        } else {
            #if !canImport(ObjectiveC)
                // Background queues watch such operations anyway, and an `AsyncOperation` removes its dependencies
                // itself.
                for operation in operations where !(operation is AsyncOperation) {
                    FinishWatcher.watch(operation) { operation.forgetDependenciesIfCancelled() }
                }
            #endif
            addOperations(operations.linedUp(), waitUntilFinished: wait)
        }
    }

    /// Adds operations and returns immediately.
    ///
    /// It can be called from asynchronous code, unlike Foundation's method, which may wait. In a ``BackgroundQueue``,
    /// the uniqueness policy does not apply among operations that are added in the same call.
    public func addOperations(_ operations: [Operation]) {
        addOperations(operations, waitUntilFinished: false)
    }

    /// Creates an ``AsyncOperation`` from a closure and adds it.
    ///
    /// ```swift
    /// queue.addAsyncOperation(name: "refresh", uniquenessPolicy: .drop) { operation in
    ///     load { operation.finish() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name. Other queues
    ///     add the operation in any case.
    ///   - closure: The work. It receives the operation and must make sure that `finish()` is called on it.
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
    /// Returns the same operations, each depending on the previous one.
    func linedUp() -> [Operation] {
        for (earlier, later) in zip(self, dropFirst()) {
            later.addDependency(earlier)
        }
        return self
    }
}

public import Foundation

extension OperationQueue {
    /// Makes an ``AsyncOperation`` of asynchronous code and adds it.
    ///
    /// ```swift
    /// let refresh = queue.addAsyncOperation(name: "refresh", uniquenessPolicy: .drop) { _ in
    ///     try await store(fetch(url))
    /// }
    /// try await refresh.succeeded()
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there. Other
    ///     queues add it in any case.
    ///   - work: The work, in a task. The operation is finished when it returns, with the error that it throws.
    /// - Returns: The operation, which has been added unless its policy dropped it.
    @discardableResult
    public func addAsyncOperation(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable (AsyncOperation) async throws -> Void
    ) -> AsyncOperation {
        add(
            AsyncOperation(
                name: name,
                timeout: timeout,
                onTimeoutCallback: onTimeoutCallback,
                uniquenessPolicy: uniquenessPolicy,
                work
            )
        )
    }

    /// Makes an ``AsyncOperation`` of asynchronous code that does not need the operation, and adds it.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there. Other
    ///     queues add it in any case.
    ///   - work: The work, in a task. The operation is finished when it returns, with the error that it throws.
    /// - Returns: The operation, which has been added unless its policy dropped it.
    @discardableResult
    public func addAsyncOperation(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable () async throws -> Void
    ) -> AsyncOperation {
        add(
            AsyncOperation(
                name: name,
                timeout: timeout,
                onTimeoutCallback: onTimeoutCallback,
                uniquenessPolicy: uniquenessPolicy,
                work
            )
        )
    }

    /// Makes an ``AsyncOperation`` that is finished when its closure returns, and adds it.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever. It does not stop the closure.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there. Other
    ///     queues add it in any case.
    ///   - work: The work, which may block. The operation is finished when it returns, with the error that it throws.
    /// - Returns: The operation, which has been added unless its policy dropped it.
    @discardableResult
    public func addAsyncOperation(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable () throws -> Void
    ) -> AsyncOperation {
        add(
            AsyncOperation(
                name: name,
                timeout: timeout,
                onTimeoutCallback: onTimeoutCallback,
                uniquenessPolicy: uniquenessPolicy,
                work
            )
        )
    }

    /// Takes a closure that may throw and awaits nothing, which would otherwise be taken for asynchronous code and block
    /// one of the few threads of Swift's tasks. It runs on a thread of the queue, and the operation is finished when it
    /// returns or throws.
    @available(
        *,
        deprecated,
        message: """
            A closure that throws and awaits nothing finishes its operation by returning. Leave out its parameter if that \
            is meant; else catch its errors, and call finish() or finish(with:).
            """
    )
    @discardableResult
    public func addAsyncOperation(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable (AsyncOperation) throws -> Void
    ) -> AsyncOperation {
        add(
            AsyncOperation(
                name: name,
                timeout: timeout,
                onTimeoutCallback: onTimeoutCallback,
                uniquenessPolicy: uniquenessPolicy,
                work
            )
        )
    }

    private func add(_ operation: AsyncOperation) -> AsyncOperation {
        addOperation(operation)
        return operation
    }
}

public import Foundation

extension OperationQueue {
    /// Creates an ``AsyncOperation`` from asynchronous code and adds it.
    ///
    /// ```swift
    /// let refresh = queue.addAsyncOperation(name: "refresh", uniquenessPolicy: .drop) { _ in
    ///     try await store(fetch(url))
    /// }
    /// try await refresh.succeeded()
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name. Other queues
    ///     add the operation in any case.
    ///   - work: The work, which runs in a task. The operation finishes when it returns or throws.
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

    /// Creates an ``AsyncOperation`` from asynchronous code that does not need the operation, and adds it.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name. Other queues
    ///     add the operation in any case.
    ///   - work: The work, which runs in a task. The operation finishes when it returns or throws.
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

    /// Creates an ``AsyncOperation`` that finishes when its closure returns or throws, and adds it.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit. A timeout does not stop the closure.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name. Other queues
    ///     add the operation in any case.
    ///   - work: The work, which may block. The operation finishes when it returns or throws.
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

    /// Creates an ``AsyncOperation`` from a closure that throws but awaits nothing, and adds it.
    ///
    /// Without this method Swift would treat such a closure as asynchronous code, which would block one of the few
    /// threads of Swift's tasks. The closure runs on a thread of the queue, and the operation finishes when it returns
    /// or throws.
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

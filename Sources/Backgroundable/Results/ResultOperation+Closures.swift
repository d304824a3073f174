extension ResultOperation {
    /// Creates an operation whose value is the return value of a closure.
    ///
    /// Use it for work that is done when the call returns. The closure may block: it runs on a thread of the
    /// operation's queue. A timeout ends the operation but does not stop the closure.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work. If it throws, the operation ends with that error.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable () throws -> Output
    ) {
        self.init(
            name: name,
            timeout: timeout,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { $0.finish(withResult: Result(catching: work)) }
    }

    /// Creates an operation whose value is the return value of asynchronous code.
    ///
    /// The work runs in a task, which is cancelled if the operation is cancelled or times out.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work. If it throws, the operation ends with that error.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable () async throws -> Output
    ) {
        self.init(
            name: name,
            timeout: timeout,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { operation in operation.beginTask { _ in operation.finish(returning: try await work()) } }
    }

    /// Creates an operation whose value is the return value of a closure that receives the operation.
    ///
    /// The closure runs on a thread of the operation's queue and may block.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work, which receives the operation. If it throws, the operation ends with that error.
    @_disfavoredOverload  // A closure that returns nothing calls `finish(returning:)` itself.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable (ResultOperation<Output>) throws -> Output
    ) {
        self.init(
            name: name,
            timeout: timeout,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { operation in operation.finish(withResult: Result { try work(operation) }) }
    }

    /// Creates an operation whose value is the return value of asynchronous code that receives the operation.
    ///
    /// ```swift
    /// ResultOperation<Data> { operation in
    ///     try await fetch(url, named: operation.name)
    /// }
    /// ```
    ///
    /// The work runs in a task, which is cancelled if the operation is cancelled or times out.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work, which receives the operation. If it throws, the operation ends with that error.
    @_disfavoredOverload  // For the same reason as above.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable (ResultOperation<Output>) async throws -> Output
    ) {
        self.init(
            name: name,
            timeout: timeout,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { operation in operation.beginTask { _ in operation.finish(returning: try await work(operation)) } }
    }
}

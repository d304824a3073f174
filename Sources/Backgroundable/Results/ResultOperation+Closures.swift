extension ResultOperation {
    /// Makes an operation whose value is what a closure returns.
    ///
    /// For work that is done when the call returns, and may block. It runs on a thread of the operation's queue; the
    /// timeout does not stop it.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work. An error that it throws is the operation's.
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

    /// Makes an operation whose value is what asynchronous code returns.
    ///
    /// The work runs in a task, which is cancelled when the operation is cancelled or times out.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work. An error that it throws is the operation's.
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

    /// Makes an operation whose value is what a closure returns, which gets the operation.
    ///
    /// It runs on a thread of the operation's queue and may block.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work, which gets the operation. An error that it throws is the operation's.
    @_disfavoredOverload  // A closure that returns nothing is one that calls `finish(returning:)`.
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

    /// Makes an operation whose value is what asynchronous code returns, which gets the operation.
    ///
    /// ```swift
    /// ResultOperation<Data> { operation in
    ///     try await fetch(url, named: operation.name)
    /// }
    /// ```
    ///
    /// The work runs in a task, which is cancelled when the operation is cancelled or times out.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work, which gets the operation. An error that it throws is the operation's.
    @_disfavoredOverload  // As above.
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

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

    /// Makes an operation whose closure makes sure that ``finish(returning:)`` or ``finish(withResult:)`` is called.
    ///
    /// ```swift
    /// ResultOperation<Data> { operation in
    ///     download(url) { result in operation.finish(withResult: result) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - closure: The work, which goes on until the operation is finished.
    @_disfavoredOverload  // Else `TransformOperation<Input, Void> { _ in … }` would be ambiguous.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ closure: @escaping @Sendable (ResultOperation<Output>) -> Void
    ) {
        self.init(name: name, timeout: timeout.timeInterval, uniquenessPolicy: uniquenessPolicy)
        // The operation that is handed over is this one; to capture it here would keep it alive for ever.
        prepare(onTimeoutCallback: onTimeoutCallback) { operation in
            if let operation = operation as? ResultOperation<Output> { closure(operation) }
        }
    }
}

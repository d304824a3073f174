extension AsyncOperation {
    /// Creates an operation that finishes when its closure returns or throws.
    ///
    /// Use it for work that is done when the call returns. The closure may block: it runs on a thread of the
    /// operation's queue. A timeout ends the operation but does not stop the closure.
    ///
    /// ```swift
    /// AsyncOperation(name: "index") { try rebuildIndex() }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work. If it throws a `CancellationError`, the operation is cancelled; any other error is stored in
    ///     ``errors``.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable () throws -> Void
    ) {
        self.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { operation in operation.end(with: Result(catching: work)) }
    }

    /// Creates an operation from a closure that throws but awaits nothing.
    ///
    /// Without this initializer Swift would treat such a closure as asynchronous code, which would block one of the few
    /// threads of Swift's tasks. The closure runs on a thread of the operation's queue, and the operation finishes when
    /// it returns or throws.
    @available(
        *,
        deprecated,
        message: """
            A closure that throws and awaits nothing finishes its operation by returning. Leave out its parameter if that \
            is meant; else catch its errors, and call finish() or finish(with:).
            """
    )
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable (AsyncOperation) throws -> Void
    ) {
        self.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { operation in operation.end(with: Result { try work(operation) }) }
    }

    /// Ends the operation according to the result of its work: finished, finished with the error, or cancelled.
    final func end(with outcome: Result<Void, any Error>) {
        switch outcome {
        case .success: finish()
        case .failure(is CancellationError): cancel()
        case .failure(let error): finish(with: error)
        }
    }
}

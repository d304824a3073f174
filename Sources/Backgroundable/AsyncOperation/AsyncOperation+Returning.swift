extension AsyncOperation {
    /// Makes an operation that is finished when its closure returns, with the error that it throws.
    ///
    /// For work that is done when the call returns, and may block. It runs on a thread of the operation's queue; the
    /// timeout does not stop it.
    ///
    /// ```swift
    /// AsyncOperation(name: "index") { try rebuildIndex() }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start. Zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work. If it throws a `CancellationError` the operation is cancelled.
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

    /// Takes a closure that may throw and awaits nothing, which would otherwise be taken for asynchronous code and block
    /// one of the few threads of Swift's tasks. It runs on a thread of the operation's queue, and the operation is finished
    /// when it returns or throws.
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

    /// Ends the operation as its work ended: finished, with the error that it threw, or cancelled.
    final func end(with outcome: Result<Void, any Error>) {
        switch outcome {
        case .success: finish()
        case .failure(is CancellationError): cancel()
        case .failure(let error): finish(with: error)
        }
    }
}

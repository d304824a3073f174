/// Calls a block when an operation starts.
public struct StartedObserver: OperationObserver {
    private let block: @Sendable (AsyncOperation) -> Void

    /// Makes an observer of the start.
    public init(_ block: @escaping @Sendable (AsyncOperation) -> Void) {
        self.block = block
    }

    /// Calls the block.
    public func didStart(_ operation: AsyncOperation) {
        block(operation)
    }
}

/// Calls a block when an operation is cancelled.
public struct CancelledObserver: OperationObserver {
    private let block: @Sendable (AsyncOperation, [any Error]) -> Void

    /// Makes an observer of cancellation.
    public init(_ block: @escaping @Sendable (AsyncOperation) -> Void) {
        self.init { operation, _ in block(operation) }
    }

    /// Makes an observer of cancellation that learns the errors of `cancel(with:)` or of failed conditions.
    public init(_ block: @escaping @Sendable (AsyncOperation, [any Error]) -> Void) {
        self.block = block
    }

    /// Calls the block.
    public func didCancel(_ operation: AsyncOperation) {
        block(operation, operation.errors)
    }
}

/// Calls a block when an operation's timeout has passed. ``TimeoutObserver`` is the one that sets a timeout.
public struct TimedOutObserver: OperationObserver {
    private let block: @Sendable (AsyncOperation) -> Void

    /// Makes an observer of the timeout.
    public init(_ block: @escaping @Sendable (AsyncOperation) -> Void) {
        self.block = block
    }

    /// Calls the block.
    public func didTimeOut(_ operation: AsyncOperation) {
        block(operation)
    }
}

/// Calls a block when an operation has finished, with its errors.
///
/// ```swift
/// operation.addObserver(FinishedObserver { operation, errors in
///     report(operation.name, errors)
/// })
/// ```
public struct FinishedObserver: OperationObserver {
    private let block: @Sendable (AsyncOperation, [any Error]) -> Void

    /// Makes an observer of the end, however it comes.
    public init(_ block: @escaping @Sendable (AsyncOperation, [any Error]) -> Void) {
        self.block = block
    }

    /// Calls the block.
    public func didFinish(_ operation: AsyncOperation, errors: [any Error]) {
        block(operation, errors)
    }
}

/// Calls one block or several at the moments of an operation's life.
public struct BlockObserver: OperationObserver {
    private let startHandler: (@Sendable (AsyncOperation) -> Void)?
    private let cancelHandler: (@Sendable (AsyncOperation) -> Void)?
    private let timeoutHandler: (@Sendable (AsyncOperation) -> Void)?
    private let finishHandler: (@Sendable (AsyncOperation, [any Error]) -> Void)?

    /// Makes an observer of the moments that have a block.
    public init(
        startHandler: (@Sendable (AsyncOperation) -> Void)? = nil,
        cancelHandler: (@Sendable (AsyncOperation) -> Void)? = nil,
        timeoutHandler: (@Sendable (AsyncOperation) -> Void)? = nil,
        finishHandler: (@Sendable (AsyncOperation, [any Error]) -> Void)? = nil
    ) {
        self.startHandler = startHandler
        self.cancelHandler = cancelHandler
        self.timeoutHandler = timeoutHandler
        self.finishHandler = finishHandler
    }

    /// Calls the start's block.
    public func didStart(_ operation: AsyncOperation) {
        startHandler?(operation)
    }

    /// Calls the cancellation's block.
    public func didCancel(_ operation: AsyncOperation) {
        cancelHandler?(operation)
    }

    /// Calls the timeout's block.
    public func didTimeOut(_ operation: AsyncOperation) {
        timeoutHandler?(operation)
    }

    /// Calls the end's block.
    public func didFinish(_ operation: AsyncOperation, errors: [any Error]) {
        finishHandler?(operation, errors)
    }
}

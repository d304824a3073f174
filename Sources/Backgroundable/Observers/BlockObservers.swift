/// An observer that calls a block when an operation starts.
public struct StartedObserver: OperationObserver {
    private let block: @Sendable (AsyncOperation) -> Void

    /// Creates an observer of the start.
    public init(_ block: @escaping @Sendable (AsyncOperation) -> Void) {
        self.block = block
    }

    /// Calls the block.
    public func didStart(_ operation: AsyncOperation) {
        block(operation)
    }
}

/// An observer that calls a block when an operation is cancelled.
public struct CancelledObserver: OperationObserver {
    private let block: @Sendable (AsyncOperation, [any Error]) -> Void

    /// Creates an observer of the cancellation.
    public init(_ block: @escaping @Sendable (AsyncOperation) -> Void) {
        self.init { operation, _ in block(operation) }
    }

    /// Creates an observer of the cancellation that receives the errors of `cancel(with:)` or of failed conditions.
    public init(_ block: @escaping @Sendable (AsyncOperation, [any Error]) -> Void) {
        self.block = block
    }

    /// Calls the block.
    public func didCancel(_ operation: AsyncOperation) {
        block(operation, operation.errors)
    }
}

/// An observer that calls a block when an operation times out. To set a timeout, use ``TimeoutObserver``.
public struct TimedOutObserver: OperationObserver {
    private let block: @Sendable (AsyncOperation) -> Void

    /// Creates an observer of the timeout.
    public init(_ block: @escaping @Sendable (AsyncOperation) -> Void) {
        self.block = block
    }

    /// Calls the block.
    public func didTimeOut(_ operation: AsyncOperation) {
        block(operation)
    }
}

/// An observer that calls a block with the errors when an operation has finished.
///
/// ```swift
/// operation.addObserver(FinishedObserver { operation, errors in
///     report(operation.name, errors)
/// })
/// ```
public struct FinishedObserver: OperationObserver {
    private let block: @Sendable (AsyncOperation, [any Error]) -> Void

    /// Creates an observer of the finish, however the operation ended.
    public init(_ block: @escaping @Sendable (AsyncOperation, [any Error]) -> Void) {
        self.block = block
    }

    /// Calls the block.
    public func didFinish(_ operation: AsyncOperation, errors: [any Error]) {
        block(operation, errors)
    }
}

/// An observer that calls separate blocks for the events of an operation.
public struct BlockObserver: OperationObserver {
    private let startHandler: (@Sendable (AsyncOperation) -> Void)?
    private let cancelHandler: (@Sendable (AsyncOperation) -> Void)?
    private let timeoutHandler: (@Sendable (AsyncOperation) -> Void)?
    private let finishHandler: (@Sendable (AsyncOperation, [any Error]) -> Void)?

    /// Creates an observer with a block for each event, or nil.
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

    /// Calls the block for the start.
    public func didStart(_ operation: AsyncOperation) {
        startHandler?(operation)
    }

    /// Calls the block for the cancellation.
    public func didCancel(_ operation: AsyncOperation) {
        cancelHandler?(operation)
    }

    /// Calls the block for the timeout.
    public func didTimeOut(_ operation: AsyncOperation) {
        timeoutHandler?(operation)
    }

    /// Calls the block for the finish.
    public func didFinish(_ operation: AsyncOperation, errors: [any Error]) {
        finishHandler?(operation, errors)
    }
}

/// A type that is notified of the events of an ``AsyncOperation``.
///
/// For each operation, every method is called at most once, in the order started, cancelled or timed out, finished, and
/// never concurrently with another. An observer that is added late is immediately called for past events. The operation
/// becomes finished only after its observers have been called. The exception is a timeout, because a slow observer must
/// not delay other deadlines.
///
/// The methods are usually called on the thread that made the change; after a timeout on a thread of the system's
/// global queue.
///
/// For single events, use ``StartedObserver``, ``CancelledObserver``, ``TimedOutObserver`` or ``FinishedObserver``; for
/// several, ``BlockObserver``.
public protocol OperationObserver: Sendable {
    /// Called when the observer is added to the operation.
    func didAttach(to operation: AsyncOperation)
    /// Called when the operation is about to run its closure. Not called if the operation ended before.
    func didStart(_ operation: AsyncOperation)
    /// Called when the operation is cancelled, dropped or replaced, or one of its conditions failed.
    func didCancel(_ operation: AsyncOperation)
    /// Called when the operation's timeout passes.
    func didTimeOut(_ operation: AsyncOperation)
    /// Called when the operation has ended in any way and leaves its queue.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - errors: The operation's errors. Empty if it finished or was cancelled without an error.
    func didFinish(_ operation: AsyncOperation, errors: [any Error])
}

extension OperationObserver {
    /// Does nothing.
    public func didAttach(to operation: AsyncOperation) {}
    /// Does nothing.
    public func didStart(_ operation: AsyncOperation) {}
    /// Does nothing.
    public func didCancel(_ operation: AsyncOperation) {}
    /// Does nothing.
    public func didTimeOut(_ operation: AsyncOperation) {}
    /// Does nothing.
    public func didFinish(_ operation: AsyncOperation, errors: [any Error]) {}
}

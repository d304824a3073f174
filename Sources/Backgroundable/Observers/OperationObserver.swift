/// Learns what becomes of an ``AsyncOperation``.
///
/// Every method is called at most once for an operation, never two at a time, in the order started, cancelled or timed
/// out, finished; also when the observer was added late: then it learns at once what has happened already. The
/// operation becomes finished only after its observers have been told so, except when its timeout passed: a slow observer
/// must not hold up a deadline.
///
/// The calls come on whichever thread made the change; after a timeout on a thread of the system's global queue.
///
/// For single moments there are ``StartedObserver``, ``CancelledObserver``, ``TimedOutObserver`` and
/// ``FinishedObserver``; for several ``BlockObserver``.
public protocol OperationObserver: Sendable {
    /// The observer was added to the operation.
    func didAttach(to operation: AsyncOperation)
    /// The operation is about to run its closure. Never called when it ended before.
    func didStart(_ operation: AsyncOperation)
    /// The operation was cancelled, dropped or replaced, or one of its conditions failed.
    func didCancel(_ operation: AsyncOperation)
    /// The operation's timeout passed.
    func didTimeOut(_ operation: AsyncOperation)
    /// The operation has ended, however it ended, and leaves its queue.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - errors: Why it did not succeed. Empty when it finished without an error, and when it was cancelled
    ///     without one.
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

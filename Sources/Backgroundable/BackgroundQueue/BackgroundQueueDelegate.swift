/// Learns when a ``BackgroundQueue`` begins to work and when it has nothing left to do.
///
/// The calls alternate, one at a time, in the order in which the changes happened, on whichever thread made the
/// change: for the first that is usually the thread that adds the operation, before the operation can start.
public protocol BackgroundQueueDelegate: AnyObject, Sendable {
    /// The queue was empty and now gets its first operation.
    func backgroundQueueWillStartOperations(_ queue: BackgroundQueue)

    /// The last operation has left the queue.
    func backgroundQueueDidFinishOperations(_ queue: BackgroundQueue)
}

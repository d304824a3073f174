/// A type that is notified when a ``BackgroundQueue`` becomes busy and when it is empty again.
///
/// The calls alternate and never overlap, in the order of the changes. They usually run on the thread that made the
/// change: for ``backgroundQueueWillStartOperations(_:)`` that is the thread that adds the operation, before the
/// operation can start. After a timeout they run on a thread of the system's global queue.
public protocol BackgroundQueueDelegate: AnyObject, Sendable {
    /// Called when the queue was empty and receives its first operation.
    func backgroundQueueWillStartOperations(_ queue: BackgroundQueue)

    /// Called when the last operation has left the queue.
    func backgroundQueueDidFinishOperations(_ queue: BackgroundQueue)
}

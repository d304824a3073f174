import Foundation

/// An operation's place in its background queue.
struct QueueRegistration: Sendable {
    /// The queue, which is kept alive until the operation has left it.
    let queue: BackgroundQueue
    /// The shard of the queue's index.
    let part: Int
    /// The slot in that shard.
    let seat: Int

    /// Removes the operation from the background queue when it has finished and left Foundation's queue.
    ///
    /// - Parameter mayBlock: Whether a delegate may be called on this thread.
    func end(mayBlock: Bool) {
        queue.leave(part: part, seat: seat, mayBlock: mayBlock)
    }
}

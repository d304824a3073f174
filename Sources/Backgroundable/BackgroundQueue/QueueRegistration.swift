import Foundation

/// An operation's place in a background queue: where to report what becomes of it.
struct QueueRegistration: Sendable {
    /// Kept alive until the operation has left it.
    let queue: BackgroundQueue
    /// Which part of the queue's roll it stands in.
    let part: Int
    /// The operation's seat there.
    let seat: Int

    /// The operation has finished and left Foundation's queue.
    ///
    /// - Parameter mayBlock: false on a thread that must not wait for a delegate.
    func end(mayBlock: Bool) {
        queue.leave(part: part, seat: seat, mayBlock: mayBlock)
    }
}

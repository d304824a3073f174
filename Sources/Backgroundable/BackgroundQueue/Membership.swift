import Foundation

/// An operation's place in a background queue: where to report what becomes of it.
struct Membership: Sendable {
    /// Kept alive until the operation has left it.
    let queue: BackgroundQueue
    /// Which of the queue's rolls it stands in.
    let roll: SharedRoll
    /// The operation's seat there.
    let seat: Int

    /// The operation has finished and left Foundation's queue.
    ///
    /// - Parameter mayBlock: false on a thread that must not wait for a delegate.
    func end(mayBlock: Bool) {
        // The last reference may go here, and with it whatever the operation holds: not under the roll's lock.
        let operation = roll.withLock { $0.leave(seat) }
        withExtendedLifetime(operation) {}
        queue.memberLeft(mayBlock: mayBlock)
    }
}

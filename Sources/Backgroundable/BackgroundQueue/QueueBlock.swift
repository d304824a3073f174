import Foundation

/// A block in a background queue: an operation that reports when it has left.
///
/// Unchecked because `BlockOperation` is a class that others may subclass; the one variable here is written before the
/// operation is enqueued and read when the queue starts it.
class QueueBlock: BlockOperation, @unchecked Sendable {
    private var membership: QueueRegistration?

    final func join(_ membership: QueueRegistration) {
        self.membership = membership
    }

    override func start() {
        let membership = membership
        self.membership = nil
        let isWaiting = isCancelled
        begin()
        if isWaiting { forgetUnfinishedDependencies() }
        guard let membership else { return }
        willLeave(membership.queue)
        membership.end(mayBlock: true)
    }

    /// Runs the block, unless it was cancelled, and finishes the operation.
    func begin() {
        super.start()
    }

    /// The block has run, or was cancelled; the queue still counts it.
    func willLeave(_ queue: BackgroundQueue) {}
}

/// A block that everything added later waits for.
///
/// Unchecked for the reason of its superclass.
final class BarrierBlock: QueueBlock, @unchecked Sendable {
    /// Runs the block outside of what Foundation counts as the progress of an operation: a barrier is none.
    override func begin() {
        // Its own, which counts nowhere, so that code which it runs has a current progress like that of any operation.
        if !isCancelled { OperationProgress().perform { main() } }
        cancel()
        super.begin()
    }

    override func willLeave(_ queue: BackgroundQueue) {
        queue.lift(self)
    }
}

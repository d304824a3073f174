import Foundation

/// A block in a background queue: an operation that reports when it leaves.
///
/// Unchecked because `BlockOperation` is an open class. The variable here is written before the operation is enqueued
/// and read when the queue starts it.
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

    /// Called when the block has run or was cancelled, while the queue still counts it.
    func willLeave(_ queue: BackgroundQueue) {}
}

/// A block that everything added later waits for.
///
/// Unchecked for the same reason as its superclass.
final class BarrierBlock: QueueBlock, @unchecked Sendable {
    /// Runs the block outside Foundation's progress counting, because barriers do not count.
    override func begin() {
        // A separate progress, which counts nowhere: code in the block has a current progress, as in any operation.
        if !isCancelled { OperationProgress().perform { main() } }
        cancel()
        super.begin()
    }

    override func willLeave(_ queue: BackgroundQueue) {
        queue.lift(self)
    }
}

import Synchronization

/// The work of a ``SlotOperation``.
package protocol SlotWork: AnyObject, Sendable {
    /// Whether ``begin(_:)`` may block its thread. If so, the queue calls it on one of its own threads.
    var mayBlock: Bool { get }

    /// Does the work. It calls `finish()` on the operation, then or later. If it does not block, any thread may call it.
    func begin(_ operation: SlotOperation)

    /// Called once if the operation times out, before its slot is free. It must be quick and must not block: it runs on the
    /// deadline timer's thread.
    func timedOut()
}

/// An operation of a ``SlotQueue``.
///
/// Unchecked because `Operation` is an open class. Its own properties are constant or atomic.
package final class SlotOperation: AsyncOperation, @unchecked Sendable {
    /// The relation of the operation to the thread that started it: that thread has not returned from `start()`, the
    /// operation has ended before the return, or the thread has gone on without it.
    private enum Place {
        static let onThread: UInt8 = 0
        static let ended: UInt8 = 1
        static let alone: UInt8 = 2
    }

    /// Whether it may block its thread.
    let mayBlock: Bool
    private let work: any SlotWork
    private let queue: SlotQueue
    private let place = Atomic<UInt8>(Place.onThread)

    /// Creates an operation for a queue.
    ///
    /// - Parameters:
    ///   - timeout: How long it may run from its start, in seconds. Zero, negative and infinite values mean no limit.
    ///   - work: Its work, which is kept as long as the operation.
    ///   - queue: The queue to which the caller adds it.
    package init(timeout: Double, work: any SlotWork, in queue: SlotQueue) {
        mayBlock = work.mayBlock
        self.work = work
        self.queue = queue
        super.init(name: nil, timeout: timeout)
    }

    package override func main() {
        if state.call() { work.begin(self) }
    }

    /// False, because the work has been told by ``SlotWork/timedOut()``.
    override var tellsOfTimeout: Bool { false }

    override func endParts(_ ending: AsyncOperationEnding) {
        if ending == .timedOut { work.timedOut() }
    }

    /// Runs the operation, which has its turn in a slot. Returns whether it has ended and left the slot to the caller.
    func runInSlot() -> Bool {
        start()
        return place.exchange(Place.alone, ordering: .acquiringAndReleasing) == Place.ended
    }

    override func hasLeft() {
        // The code of an operation that has overrun may keep its thread for long, so the slot is free without it.
        let isOverrun = state.facts.contains(.overran)
        let before = place.exchange(isOverrun ? Place.alone : Place.ended, ordering: .acquiringAndReleasing)
        guard isOverrun || before == Place.alone else { return }
        // The thread that stops an operation is the timer's or another one that must go on.
        if ending == .finished { queue.fillSlot() } else { queue.fillSlotElsewhere() }
    }
}

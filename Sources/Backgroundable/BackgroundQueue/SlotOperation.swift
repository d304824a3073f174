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

/// An operation of a ``SlotQueue``: work with a timeout that ends as an ``AsyncOperation`` does, when it is finished or
/// cancelled or its time is over, whichever is first.
///
/// It is not a Foundation `Operation`: each of those allocates seven objects and notifies observers, which nothing here has.
package final class SlotOperation: WatchedTarget {
    /// What has happened to the operation.
    private enum Fact {
        static let begun: UInt8 = 1
        static let ended: UInt8 = 2
        /// It has ended by its timeout or a cancellation, perhaps while its work was running.
        static let stopped: UInt8 = 4
        /// The thread that began the operation has left it.
        static let returned: UInt8 = 8
    }

    /// Whether it may block its thread.
    let mayBlock: Bool
    private let timeout: Double
    private let work: any SlotWork
    private let queue: SlotQueue
    private let facts = Atomic<UInt8>(0)
    private let moment = Atomic<UInt64>(.max)
    /// The deadline of an operation that continues after its thread has left it, or that found no free entry in the table of
    /// running closures.
    private let deadline = DeadlineSlot()

    /// Creates an operation for a queue.
    ///
    /// - Parameters:
    ///   - timeout: How long it may run from its start, in seconds. Zero, negative and infinite values mean no limit.
    ///   - work: Its work, which is kept as long as the operation.
    ///   - queue: The queue to which the caller adds it.
    package init(timeout: Double, work: any SlotWork, in queue: SlotQueue) {
        mayBlock = work.mayBlock
        self.timeout = timeout
        self.work = work
        self.queue = queue
    }

    /// Whether the operation has ended.
    var hasEnded: Bool { facts.load(ordering: .acquiring) & Fact.ended != 0 }

    /// When the operation times out, in ``MonotonicTime``.
    var due: UInt64 { moment.load(ordering: .relaxed) }

    /// Ends the operation. If it has not begun, its work never does. Does nothing if the operation has already ended.
    package func finish() {
        if let before = end(Fact.ended), before & Fact.returned != 0 { queue.fillSlot() }
    }

    /// Ends the operation and frees its slot at once, even if its work is still running. Does nothing if the operation has
    /// already ended.
    package func cancel() {
        if let before = end(Fact.ended | Fact.stopped) { freeSlot(before) }
    }

    /// Called by the timer.
    package func deadlineReached() {
        guard let before = end(Fact.ended | Fact.stopped) else { return }
        work.timedOut()
        freeSlot(before)
    }

    /// Runs the operation, which has its turn in a slot. Returns whether it has ended and left the slot to the caller.
    func runInSlot() -> Bool {
        let former = facts.bitwiseOr(Fact.begun, ordering: .acquiringAndReleasing).oldValue
        guard former & Fact.ended == 0 else { return true }
        let watch = beginWatch()
        work.begin(self)
        if let watch { endWatch(watch) }
        let before = facts.bitwiseOr(Fact.returned, ordering: .acquiringAndReleasing).oldValue
        // It may have ended before there was a deadline to cancel.
        if before & Fact.ended != 0 { deadline.take()?.cancel() }
        return before & (Fact.ended | Fact.stopped) == Fact.ended
    }
    /// Decides how the operation ends. Returns what had happened before; nil if it has ended already.
    private func end(_ ending: UInt8) -> UInt8? {
        var before = facts.load(ordering: .relaxed)
        while before & Fact.ended == 0 {
            let (isDecided, found) = facts.compareExchange(
                expected: before,
                desired: before | ending,
                ordering: .acquiringAndReleasing
            )
            if isDecided {
                deadline.take()?.cancel()
                return before
            }
            before = found
        }
        return nil
    }

    /// Frees the slot of an operation that was stopped, whose thread may be busy with it for long. The caller is the timer or
    /// another thread that must go on.
    private func freeSlot(_ before: UInt8) {
        if before & Fact.begun != 0 { queue.fillSlotElsewhere() }
    }

    /// Starts the timeout: in the table of running closures while this thread is in the operation, otherwise as a deadline.
    private func beginWatch() -> Int? {
        guard let due = MonotonicTime.after(timeout) else { return nil }
        moment.store(due, ordering: .relaxed)
        let watch = DeadlineTimer.shared.watch(self)
        if watch == nil { deadline.set(DeadlineTimer.shared.schedule(self)) }
        return watch
    }

    /// Schedules a deadline if the operation continues after its thread has left it.
    private func endWatch(_ watch: Int) {
        guard DeadlineTimer.shared.endWatch(watch, self), !hasEnded else { return }
        deadline.set(DeadlineTimer.shared.schedule(self))
    }
}

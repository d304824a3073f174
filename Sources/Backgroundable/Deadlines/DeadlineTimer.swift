package import Foundation

/// A timer for any number of deadlines, with its own thread.
///
/// It uses neither a run loop nor a dispatch thread, so it is on time even while all pool threads are blocked.
/// Scheduling takes one short lock; deadlines in ascending order, as with equal timeouts, are appended in constant
/// time. Cancelling takes no lock, and cancelled deadlines do not accumulate (``DeadlineHeap``).
///
/// ```swift
/// let deadline = DeadlineTimer.shared.schedule(after: .seconds(2)) { late.raise() }
/// deadline.cancel()
/// ```
package final class DeadlineTimer: Sendable {
    /// The timer that all operations of the process share.
    package static let shared = DeadlineTimer()

    private let book = DeadlineStore()

    /// Creates a timer and its thread. The thread ends when the timer is deallocated, and pending deadlines are
    /// dropped.
    package init() {
        DedicatedThread.start("deadlines") { [book] in
            #if canImport(Darwin)
                pthread_set_qos_class_self_np(QOS_CLASS_USER_INTERACTIVE, 0)
            #endif
            book.serve()
        }
    }

    deinit {
        book.close()
    }

    /// Calls `target` once on the timer's thread after `seconds`, unless the deadline is cancelled first.
    ///
    /// Returns nil for a span without an end: zero, negative, infinite, NaN, or a hundred years or more.
    package func schedule(after seconds: TimeInterval, _ target: any DeadlineTarget) -> Deadline? {
        guard let due = MonotonicTime.after(seconds) else { return nil }
        let deadline = Deadline(target: target)
        book.insert(deadline, due: due)
        return deadline
    }

    /// Calls `action` once on the timer's thread after `duration`, or immediately if that is not positive, unless the
    /// deadline is cancelled first.
    ///
    /// The action must be quick and must not block, because all other deadlines wait for it. Move longer work to a
    /// queue.
    package func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Deadline {
        let deadline = Deadline(target: DeadlineAction(action))
        let seconds = max(duration / .seconds(1), 0.000_000_001)
        book.insert(deadline, due: MonotonicTime.after(seconds) ?? .max)
        return deadline
    }

    /// Watches a target while the calling thread runs its work. The target is called on the timer's thread when it is
    /// due.
    ///
    /// Returns the entry for ``endWatch(_:_:)``, or nil if there is no free one. The caller then schedules a deadline
    /// instead.
    @inline(__always)
    func watch(_ target: some WatchedTarget) -> Int? {
        book.watch(target)
    }

    /// Ends the watch. Returns false if the timer has called the target.
    @inline(__always)
    func endWatch(_ place: Int, _ target: some WatchedTarget) -> Bool {
        book.board.wipe(place, target)
    }

    /// Calls `target` once on the timer's thread when it is due, unless the deadline is cancelled first.
    func schedule(_ target: some WatchedTarget) -> Deadline {
        let deadline = Deadline(target: target)
        book.insert(deadline, due: target.due)
        return deadline
    }

    /// The number of deadlines in the heap, including cancelled ones that were not removed yet.
    package var count: Int {
        book.count
    }
}

/// The state that the timer shares with its thread.
private final class DeadlineStore: Sendable {
    private struct State: ~Copyable {
        var heap = DeadlineHeap()
        /// When the thread wakes up without being rung.
        var wakesAt = UInt64.max
        var isClosed = false

        /// Makes the thread wake up at `moment` at the latest. Returns true if it would have slept longer.
        mutating func wake(at moment: UInt64) -> Bool {
            guard moment < wakesAt else { return false }
            wakesAt = moment
            return true
        }
    }

    private let state = Locked(State())
    private let alarm = Alarm()
    let board = RunningClosures()

    var count: Int {
        state.withLock { $0.heap.count }
    }

    func insert(_ deadline: Deadline, due: UInt64) {
        let isFirst = state.withLock { state in
            state.heap.insert(deadline, due: due)
            return state.wake(at: due)
        }
        if isFirst {
            alarm.ring()
        }
    }

    @inline(__always)
    func watch(_ target: some WatchedTarget) -> Int? {
        guard let (place, isFirst) = board.write(target) else { return nil }
        if isFirst { look(at: target.due) }
        return place
    }

    private func look(at moment: UInt64) {
        board.lower(to: moment)
        if state.withLock({ $0.wake(at: moment) }) {
            alarm.ring()
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        alarm.ring()
    }

    /// The body of the thread. It takes one deadline at a time, so that it holds the lock only briefly, and does not
    /// call deadlines that are cancelled while others are called.
    func serve() {
        while true {
            reachWatched()
            let (deadline, wakesAt, isClosed) = next()
            if isClosed { return }
            if let deadline {
                deadline.reach()
            } else {
                alarm.sleep(until: wakesAt)
            }
        }
    }

    /// Calls the watched targets that are due.
    private func reachWatched() {
        let now = MonotonicTime.now
        guard board.firstLook <= now else { return }
        for target in board.takeDue(at: now) { target.deadlineReached() }
    }

    private func next() -> (due: Deadline?, wakesAt: UInt64?, isClosed: Bool) {
        let now = MonotonicTime.now
        return state.withLock { state in
            if let due = state.heap.popDue(at: now) {
                return (due, nil, state.isClosed)
            }
            state.wakesAt = min(state.heap.firstDue ?? .max, board.firstLook)
            return (nil, state.wakesAt == .max ? nil : state.wakesAt, state.isClosed)
        }
    }
}

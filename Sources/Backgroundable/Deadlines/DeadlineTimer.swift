package import Foundation

/// One timer for any number of deadlines, on a thread of its own.
///
/// It needs no run loop and no dispatch thread, so it is punctual also while every pool thread is blocked. Scheduling
/// costs one short lock (deadlines that come in order, as equal timeouts do, are appended), cancelling costs none, and
/// cancelled deadlines do not pile up (``DeadlineHeap``).
///
/// ```swift
/// let deadline = DeadlineTimer.shared.schedule(after: .seconds(2)) { late.raise() }
/// deadline.cancel()
/// ```
package final class DeadlineTimer: Sendable {
    /// The timer that every operation of this process shares.
    package static let shared = DeadlineTimer()

    private let book = DeadlineStore()

    /// A timer with its own thread, which ends when the timer is deallocated. Pending deadlines are then forgotten.
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

    /// Calls `target` once, on the timer's thread, when `seconds` have passed, unless the deadline is cancelled before.
    ///
    /// Returns nil for a span that never ends: zero, negative, infinite, undefined, or more than a hundred years.
    package func schedule(after seconds: TimeInterval, _ target: any DeadlineTarget) -> Deadline? {
        guard let due = MonotonicTime.after(seconds) else { return nil }
        let deadline = Deadline(target: target)
        book.insert(deadline, due: due)
        return deadline
    }

    /// Calls `action` once, on the timer's thread, when `duration` has passed (at once if it is not positive), unless
    /// the deadline is cancelled before.
    ///
    /// The action must be quick and must not block: every other deadline waits for it. Hand longer work to a queue.
    package func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Deadline {
        let deadline = Deadline(target: DeadlineAction(action))
        let seconds = max(duration / .seconds(1), 0.000_000_001)
        book.insert(deadline, due: MonotonicTime.after(seconds) ?? .max)
        return deadline
    }

    /// Watches a target while the calling thread is busy with it: it is called, on the timer's thread, when it is due.
    ///
    /// Returns what ``endWatch(_:_:)`` wants to know, or nil if there is no room: then schedule it.
    @inline(__always)
    func watch(_ target: some WatchedTarget) -> Int? {
        book.watch(target)
    }

    /// Ends the watch. False if the target has been called.
    @inline(__always)
    func endWatch(_ place: Int, _ target: some WatchedTarget) -> Bool {
        book.board.wipe(place, target)
    }

    /// Calls `target` once, on the timer's thread, when it is due, unless the deadline is cancelled before.
    func schedule(_ target: some WatchedTarget) -> Deadline {
        let deadline = Deadline(target: target)
        book.insert(deadline, due: target.due)
        return deadline
    }

    /// How many deadlines the timer remembers, cancelled ones that were not swept out yet included.
    package var count: Int {
        book.count
    }
}

/// What the timer and its thread share.
private final class DeadlineStore: Sendable {
    private struct State: ~Copyable {
        var heap = DeadlineHeap()
        /// When the thread will look again by itself.
        var wakesAt = UInt64.max
        var isClosed = false

        /// Notes that the thread must not sleep longer than until `moment`. True if it would have.
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

    /// The thread's life. One deadline is taken at a time: the lock is never held for long, and what was cancelled
    /// while others were told is not told any more.
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

    /// Calls what is due on the board.
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

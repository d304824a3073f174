package import Foundation

/// One timer for any number of deadlines, on a thread of its own.
///
/// It needs no run loop and no dispatch thread, so it is punctual also while every pool thread is blocked. Scheduling
/// costs one short lock (deadlines that come in order, as equal timeouts do, are appended), cancelling costs none, and
/// cancelled deadlines do not pile up (``DeadlineHeap``).
///
/// ```swift
/// let deadline = DeadlineTimer.shared.schedule(after: 2) { stop.store(true, ordering: .relaxed) }
/// deadline.cancel()
/// ```
package final class DeadlineTimer: Sendable {
    /// The timer that every operation of this process shares.
    package static let shared = DeadlineTimer()

    private let book = DeadlineBook()

    /// A timer with its own thread, which ends when the timer is deallocated. Pending deadlines are then forgotten.
    package init() {
        let thread = Thread { [book] in book.serve() }
        thread.name = "deadlines"
        thread.qualityOfService = .userInteractive
        thread.start()
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

    /// How many deadlines the timer remembers, cancelled ones that were not swept out yet included.
    package var count: Int {
        book.count
    }
}

/// What the timer and its thread share.
private final class DeadlineBook: Sendable {
    private struct State: ~Copyable {
        var heap = DeadlineHeap()
        /// When the thread will look again by itself.
        var wakesAt = UInt64.max
        var isClosed = false
    }

    private let state = Locked(State())
    private let alarm = Alarm()

    var count: Int {
        state.withLock { $0.heap.count }
    }

    func insert(_ deadline: Deadline, due: UInt64) {
        let isFirst = state.withLock { state in
            state.heap.insert(deadline, due: due)
            guard due < state.wakesAt else { return false }
            state.wakesAt = due
            return true
        }
        if isFirst {
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
            let (deadline, wakesAt, isClosed) = next()
            if isClosed { return }
            if let deadline {
                deadline.reach()
            } else {
                alarm.sleep(until: wakesAt)
            }
        }
    }

    private func next() -> (due: Deadline?, wakesAt: UInt64?, isClosed: Bool) {
        let now = MonotonicTime.now
        return state.withLock { state in
            if let due = state.heap.popDue(at: now) {
                return (due, nil, state.isClosed)
            }
            state.wakesAt = state.heap.firstDue ?? .max
            return (nil, state.heap.firstDue, state.isClosed)
        }
    }
}

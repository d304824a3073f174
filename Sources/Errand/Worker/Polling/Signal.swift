import Backgroundable
import Synchronization

/// A signal that one task waits for and any thread can raise. If it is raised before the wait, the wait returns at
/// once.
final class Signal: Sendable {
    fileprivate struct State {
        var isRaised = false
        var turn = 0
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    /// Resumes the waiting task, or the next one that waits.
    func raise() {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            state.isRaised = state.waiter == nil
            return state.takeWaiter()
        }
        waiter?.resume(returning: true)
    }

    /// Waits until the signal is raised or the time is over. Returns whether it was raised.
    @discardableResult
    func wait(for duration: Duration) async -> Bool {
        let turn = state.withLock { state -> Int? in
            state.turn &+= 1
            defer { state.isRaised = false }
            return state.isRaised ? nil : state.turn
        }
        // Returns before a deadline is set, which would wake a thread.
        guard let turn else { return true }
        let deadline = DeadlineTimer.shared.schedule(after: duration) { [weak self] in self?.expire(turn) }
        defer { deadline.cancel() }
        return await withCheckedContinuation { continuation in
            let raised = state.withLock { state -> Bool? in
                if state.isRaised || state.turn != turn {
                    defer { state.isRaised = false }
                    return state.isRaised
                }
                state.waiter = continuation
                return nil
            }
            if let raised { continuation.resume(returning: raised) }
        }
    }

    private func expire(_ turn: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.turn == turn else { return nil }
            // A task that is about to wait detects by the new turn that its time is over.
            state.turn &+= 1
            return state.takeWaiter()
        }
        waiter?.resume(returning: false)
    }
}

extension Signal.State {
    fileprivate mutating func takeWaiter() -> CheckedContinuation<Bool, Never>? {
        defer { waiter = nil }
        return waiter
    }
}

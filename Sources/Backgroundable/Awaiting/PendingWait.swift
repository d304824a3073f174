/// The wait of a task for an event. It ends when the event happens or the task is cancelled, whichever comes first.
final class PendingWait: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Bool, Never>)
        case over(Bool)
    }

    private let state = Locked(State.idle)

    /// Waits until ``resume(_:)`` is called. `arm` arranges for that call.
    static func wait(_ arm: (PendingWait) -> Void) async throws(CancellationError) {
        let wait = PendingWait()
        arm(wait)
        let happened = await withTaskCancellationHandler {
            await withCheckedContinuation { wait.await($0) }
        } onCancel: {
            wait.resume(false)
        }
        if !happened { throw CancellationError() }
    }

    /// Ends the wait. Calls after the first have no effect.
    ///
    /// - Parameter happened: False if the waiting task was cancelled.
    func resume(_ happened: Bool) {
        let continuation: CheckedContinuation<Bool, Never>? = state.withLock { state in
            switch state {
            case .over: return nil
            case .idle:
                state = .over(happened)
                return nil
            case .waiting(let continuation):
                state = .over(happened)
                return continuation
            }
        }
        continuation?.resume(returning: happened)
    }

    private func await(_ continuation: CheckedContinuation<Bool, Never>) {
        let known: Bool? = state.withLock { state in
            guard case .over(let happened) = state else {
                state = .waiting(continuation)
                return nil
            }
            return happened
        }
        if let known { continuation.resume(returning: known) }
    }
}

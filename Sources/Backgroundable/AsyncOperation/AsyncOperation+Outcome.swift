import Foundation

/// How an operation ended, and why.
extension AsyncOperation {
    /// How the operation ended; nil while that is open.
    public final var ending: AsyncOperationEnding? {
        state.facts.ending
    }

    /// Whether the operation ended by its timeout.
    public final var isTimedOut: Bool {
        ending == .timedOut
    }

    /// Whether the closure's call has begun and not returned yet, whatever became of the operation.
    public final var isInClosure: Bool {
        state.facts.contains(.inClosure)
    }

    /// Why the operation did not succeed. Empty while it has not ended, when it finished without an error, and when it
    /// was cancelled without one. A timeout gives ``OperationError/timedOut(after:)``.
    public final var errors: [any Error] {
        let known = slot.made.map { $0.state.withLock { $0.errors } } ?? []
        return known.isEmpty && isTimedOut ? [OperationError.timedOut(after: timeout)] : known
    }
}

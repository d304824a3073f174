import Foundation

/// How an operation ended, and why.
extension AsyncOperation {
    /// How the operation ended, or nil if it has not ended.
    public final var ending: AsyncOperationEnding? {
        state.facts.ending
    }

    /// Whether the operation timed out.
    public final var isTimedOut: Bool {
        ending == .timedOut
    }

    /// Whether the closure's call has begun and not returned yet. It may still run after the operation has ended.
    public final var isInClosure: Bool {
        state.facts.contains(.inClosure)
    }

    /// The errors that the operation ended with.
    ///
    /// Empty if the operation has not ended, finished without an error, or was cancelled without one. After a
    /// timeout, contains ``OperationError/timedOut(after:)``.
    public final var errors: [any Error] {
        let known = slot.made.map { $0.state.withLock { $0.errors } } ?? []
        return known.isEmpty && isTimedOut ? [OperationError.timedOut(after: timeout)] : known
    }
}

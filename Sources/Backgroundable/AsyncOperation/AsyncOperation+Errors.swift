import Foundation

extension AsyncOperation {
    /// Whether the operation ended with an error: its own, that of a failed condition, or its timeout.
    public final var failed: Bool {
        !errors.isEmpty
    }

    /// Ends the operation with the given error, or successfully if that is nil. Does nothing if the operation has
    /// already ended.
    public final func finish(with error: (any Error)?) {
        if let error { finish(withErrors: [error]) } else { finish() }
    }

    /// Ends the operation with the given errors, or successfully if there are none. Does nothing if the operation has
    /// already ended.
    public final func finish(withErrors errors: [any Error]) {
        if errors.isEmpty { finish() } else { end(.finished, errors: errors) }
    }

    /// Cancels the operation and stores the error as the reason. Does nothing if the operation has already ended.
    public final func cancel(with error: any Error) {
        end(.cancelled, errors: [error])
    }

    /// Ends the operation because an additional limit of `seconds` has passed.
    final func timeOut(after seconds: Double) {
        end(.timedOut, errors: [OperationError.timedOut(after: seconds)])
    }

    /// The errors of the operations that this operation depends on, in the order of the dependencies.
    ///
    /// An operation with failed dependencies still runs, unless it has the condition ``NoFailedDependenciesCondition``.
    /// Its closure can read this property and decide.
    public final var dependencyErrors: [any Error] {
        dependencies.flatMap { ($0 as? AsyncOperation)?.errors ?? [] }
    }
}

import Foundation

extension AsyncOperation {
    /// Whether the operation ended with an error: its own, a failed condition's, or its timeout.
    public final var failed: Bool {
        !errors.isEmpty
    }

    /// Ends the operation with the error that kept it from succeeding, or successfully if that is nil. Does nothing when
    /// the operation has ended already.
    public final func finish(with error: (any Error)?) {
        if let error { finish(withErrors: [error]) } else { finish() }
    }

    /// Ends the operation with errors. Does nothing when the operation has ended already.
    public final func finish(withErrors errors: [any Error]) {
        if errors.isEmpty { finish() } else { end(.finished, errors: errors) }
    }

    /// Cancels the operation and says why. Does nothing when the operation has ended already.
    public final func cancel(with error: any Error) {
        end(.cancelled, errors: [error])
    }

    /// Ends the operation because an additional limit of `seconds` has passed.
    final func timeOut(after seconds: Double) {
        end(.timedOut, errors: [OperationError.timedOut(after: seconds)])
    }

    /// The errors of the operations that this one depends on, in the order of the dependencies.
    ///
    /// A failed dependency does not keep an operation from running, unless it has the condition
    /// ``NoFailedDependenciesCondition``: its closure may look here and decide.
    public final var dependencyErrors: [any Error] {
        dependencies.flatMap { ($0 as? AsyncOperation)?.errors ?? [] }
    }
}

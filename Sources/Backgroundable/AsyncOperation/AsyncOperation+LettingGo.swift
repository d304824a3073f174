import Foundation

extension AsyncOperation {
    /// Releases a value that the user passed to the operation.
    ///
    /// The last release may run user code. After a timeout it happens on another thread, so that it does not delay the
    /// timer.
    final func release(_ given: some Sendable) {
        guard ending == .timedOut else { return }
        DispatchQueue.global().async { withExtendedLifetime(given) {} }
    }
}

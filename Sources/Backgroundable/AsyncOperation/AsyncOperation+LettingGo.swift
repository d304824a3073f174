import Foundation

extension AsyncOperation {
    /// Releases something that users gave to the operation. The last reference to it may run their code, which after a
    /// timeout must not hold up the timer's thread.
    final func release(_ given: some Sendable) {
        guard ending == .timedOut else { return }
        DispatchQueue.global().async { withExtendedLifetime(given) {} }
    }
}

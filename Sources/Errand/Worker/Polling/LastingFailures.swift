import Synchronization

/// Decides which of the retried failures are logged as warnings: only those that last.
package final class LastingFailures: Sendable {
    private struct Failure {
        let began: ContinuousClock.Instant
        var warnedAt: ContinuousClock.Instant?
        var isLogged = false
    }

    private static let pause = Duration.seconds(60)
    private let patience: Duration

    /// Makes a record without failures.
    ///
    /// - Parameter patience: How long an action fails before there is a warning.
    package init(patience: Duration = .seconds(5)) { self.patience = patience }

    private let failures = Mutex<(current: [String: Failure], lastWarning: ContinuousClock.Instant?)>(([:], nil))

    /// Notes that an action has failed (again).
    ///
    /// - Returns: whether to log a warning: the action has failed for longer than the patience, there was no other
    ///   warning for as long, and none for this action in the last minute.
    package func note(_ what: String, now: ContinuousClock.Instant = .now) -> Bool {
        failures.withLock { failures in
            var failure = failures.current[what] ?? Failure(began: now)
            defer { failures.current[what] = failure }
            guard now - failure.began >= patience else { return false }
            if let warned = failure.warnedAt, now - warned < Self.pause { return false }
            failure.warnedAt = now
            if let last = failures.lastWarning, now - last < patience { return false }
            failures.lastWarning = now
            failure.isLogged = true
            return true
        }
    }

    /// Notes that an action has succeeded.
    ///
    /// - Returns: how long it has failed before, if there was a warning.
    @discardableResult
    package func clear(_ what: String) -> Duration? {
        guard let failure = failures.withLock({ $0.current.removeValue(forKey: what) }), failure.isLogged else {
            return nil
        }
        return .now - failure.began
    }

    /// Whether an action has failed, and not succeeded since.
    package func isFailing(_ what: String) -> Bool { failures.withLock { $0.current[what] != nil } }
}

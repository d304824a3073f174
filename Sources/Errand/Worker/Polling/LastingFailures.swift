import Synchronization

/// Decides which of the retried failures are logged as warnings: only those that last.
package final class LastingFailures: Sendable {
    private struct Failure {
        let began: ContinuousClock.Instant
        var warnedAt: ContinuousClock.Instant?
    }

    private static let patience = Duration.seconds(5)
    private static let pause = Duration.seconds(60)

    package init() {}

    private let failures = Mutex<(current: [String: Failure], lastWarning: ContinuousClock.Instant?)>(([:], nil))

    /// Notes that an action has failed (again).
    ///
    /// - Returns: whether to log a warning: the action has failed for 5 s, there was no other warning in the last 5 s,
    ///   and none for this action in the last minute.
    package func note(_ what: String, now: ContinuousClock.Instant = .now) -> Bool {
        failures.withLock { failures in
            var failure = failures.current[what] ?? Failure(began: now)
            defer { failures.current[what] = failure }
            guard now - failure.began >= Self.patience else { return false }
            if let warned = failure.warnedAt, now - warned < Self.pause { return false }
            failure.warnedAt = now
            if let last = failures.lastWarning, now - last < Self.patience { return false }
            failures.lastWarning = now
            return true
        }
    }

    /// Notes that an action has succeeded.
    package func clear(_ what: String) { failures.withLock { $0.current[what] = nil } }
}

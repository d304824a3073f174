import Synchronization

/// Decides which failures that are retried people must know of: those that last. What passes is retried without a warning.
package final class LastingFailures: Sendable {
    private struct Failure {
        let began: ContinuousClock.Instant
        var warnedAt: ContinuousClock.Instant?
    }

    private static let patience = Duration.seconds(5)
    private static let pause = Duration.seconds(60)

    package init() {}

    private let failures = Mutex<(current: [String: Failure], lastWarning: ContinuousClock.Instant?)>(([:], nil))

    /// Something has failed (again).
    ///
    /// - Returns: whether it is worth a warning: it has failed for 5 s, and no other warning came in the last 5 s, nor one of
    ///   this in the last minute.
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

    /// It has not failed.
    package func clear(_ what: String) { failures.withLock { $0.current[what] = nil } }
}

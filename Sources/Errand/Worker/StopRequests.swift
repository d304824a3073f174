/// Decides which signals stop a worker, and how.
///
/// A program such as `timeout` signals a process and its group, so one stop arrives as two signals. Signals within
/// 500 ms of the first belong to the same stop.
package struct StopRequests: Sendable {
    /// The kind of stop.
    package enum Request: Sendable, Equatable {
        /// Claim nothing more and let running jobs finish.
        case graceful
        /// Stop running jobs, and exit.
        case immediate
    }

    /// How long after the first signal others belong to the same stop.
    package static let sameStop = Duration.milliseconds(500)

    private var first: ContinuousClock.Instant?

    /// Makes a state without a signal.
    package init() {}

    /// Handles a signal that ends a process in two steps, SIGTERM or SIGINT.
    ///
    /// - Returns: the requested stop; `nil` if the signal belongs to an earlier one.
    package mutating func take(at now: ContinuousClock.Instant = .now) -> Request? {
        guard let first else {
            self.first = now
            return .graceful
        }
        return now - first >= Self.sameStop ? .immediate : nil
    }
}

/// Which of the signals that a process gets ask its worker to stop, and how.
///
/// A program such as `timeout` signals a process and its group, so that one stop arrives as two signals: those within
/// 500 ms of the first are the same stop.
package struct StopRequests: Sendable {
    /// What a signal asks for.
    package enum Request: Sendable, Equatable {
        /// To claim nothing more and let running jobs end.
        case graceful
        /// To stop what runs, and to exit.
        case immediate
    }

    /// For how long after the first signal others are the same stop.
    package static let sameStop = Duration.milliseconds(500)

    private var first: ContinuousClock.Instant?

    /// No signal has arrived yet.
    package init() {}

    /// Takes a signal that ends a process in two steps, SIGTERM or SIGINT.
    ///
    /// - Returns: what it asks for; `nil` if it is part of an earlier stop.
    package mutating func take(at now: ContinuousClock.Instant = .now) -> Request? {
        guard let first else {
            self.first = now
            return .graceful
        }
        return now - first >= Self.sameStop ? .immediate : nil
    }
}

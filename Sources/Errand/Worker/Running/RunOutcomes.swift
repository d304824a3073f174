extension HandlerOutcome {
    init(thrown error: any Error) {
        switch error {
        case let failure as JobFailure where failure.scope == .group:
            self = .groupRests(failure.retryAfter ?? .zero, failure.message)
        case let failure as JobFailure:
            self = .failed(failure.message, isFinal: failure.isFinal, retryAfter: failure.retryAfter)
        case let snooze as JobSnooze: self = .snoozed(snooze.pause)
        case let cancellation as JobCancellation: self = .cancelled(cancellation.reason)
        default: self = .failed(String(describing: error))
        }
    }
}

extension RunEnding {
    /// Makes an ending from a report, or from `nil` if nothing is reported. A job that was cancelled before it began is
    /// reported as released, and ends as cancelled.
    init(_ report: OutcomeReport?, wasCancelled: Bool = false) {
        guard let report else {
            self.init(status: .lost, timedOut: false, duration: .zero, error: nil)
            return
        }
        let status: Status =
            switch report.verb {
            case .finished: .succeeded
            case .failed, .timedOut: report.retryDelay == nil ? .failed : .retried
            case .cancelled: .cancelled
            case .snoozed, .groupRests: .snoozed
            case .released, .unroutable: wasCancelled ? .cancelled : .released
            case .unreadable: .failed
            }
        self.init(
            status: status,
            timedOut: report.verb == .timedOut,
            duration: .milliseconds(report.milliseconds),
            error: report.error
        )
    }
}

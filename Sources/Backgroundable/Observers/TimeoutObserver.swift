public import Foundation

/// Gives an operation a timeout, in addition to its own: whichever passes first ends it.
///
/// ```swift
/// operation.addObserver(TimeoutObserver(by: 30))
/// ```
///
/// The operation then ends as by its own timeout: ``AsyncOperation/isTimedOut`` is true, its error is
/// ``OperationError/timedOut(after:)``. ``TimedOutObserver`` is the one that only learns of it.
public struct TimeoutObserver: OperationObserver {
    private enum Limit {
        case span(TimeInterval)
        case moment(Date)
    }

    private let limit: Limit

    /// Gives the operation a span from its start (from now, if it has started), in seconds or as a `Duration`. Zero,
    /// negative and infinite values mean forever.
    public init(by span: some TimeSpan) {
        limit = .span(span.timeInterval)
    }

    /// Gives the operation a span from its start. The same as ``init(by:)``, under its older name.
    public init(timeout: some TimeSpan) {
        self.init(by: timeout)
    }

    /// Gives the operation until `date`; if that has passed when it starts, it is timed out at once.
    public init(until date: Date) {
        limit = .moment(date)
    }

    /// Begins to count.
    public func didStart(_ operation: AsyncOperation) {
        let seconds =
            switch limit {
            case .span(let seconds): seconds
            // A date that has passed is a limit all the same.
            case .moment(let date): max(date.timeIntervalSinceNow, 0.000_001)
            }
        guard MonotonicTime.after(seconds) != nil else { return }
        let target = TimeoutTarget(operation: operation, seconds: seconds)
        let deadline = DeadlineTimer.shared.schedule(after: seconds, target)
        operation.addObserver(FinishedObserver { _, _ in deadline?.cancel() })
    }
}

/// An operation whose time is over when the deadline is reached.
private final class TimeoutTarget: DeadlineTarget {
    private let operation: AsyncOperation
    private let seconds: TimeInterval

    init(operation: AsyncOperation, seconds: TimeInterval) {
        self.operation = operation
        self.seconds = seconds
    }

    func deadlineReached() {
        operation.timeOut(after: seconds)
    }
}

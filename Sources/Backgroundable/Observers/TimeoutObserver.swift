public import Foundation

/// An observer that gives an operation a timeout in addition to its own. The first of them that passes ends the
/// operation.
///
/// ```swift
/// operation.addObserver(TimeoutObserver(by: 30))
/// ```
///
/// The operation then ends as by its own timeout: ``AsyncOperation/isTimedOut`` is true and the error is
/// ``OperationError/timedOut(after:)``. To be notified of a timeout, use ``TimedOutObserver``.
public struct TimeoutObserver: OperationObserver {
    private enum Limit {
        case span(TimeInterval)
        case moment(Date)
    }

    private let limit: Limit

    /// Creates a timeout that counts from the operation's start, or from now if it has started, in seconds or as a
    /// `Duration`. Zero, negative and infinite values mean no limit.
    public init(by span: some TimeSpan) {
        limit = .span(span.timeInterval)
    }

    /// Creates a timeout that counts from the operation's start. The same as ``init(by:)``, under its older name.
    public init(timeout: some TimeSpan) {
        self.init(by: timeout)
    }

    /// Creates a timeout at `date`. If that has passed when the operation starts, it times out immediately.
    public init(until date: Date) {
        limit = .moment(date)
    }

    /// Starts the timeout.
    public func didStart(_ operation: AsyncOperation) {
        let seconds =
            switch limit {
            case .span(let seconds): seconds
            // A date in the past is still a limit.
            case .moment(let date): max(date.timeIntervalSinceNow, 0.000_001)
            }
        guard MonotonicTime.after(seconds) != nil else { return }
        let target = TimeoutTarget(operation: operation, seconds: seconds)
        let deadline = DeadlineTimer.shared.schedule(after: seconds, target)
        operation.addObserver(FinishedObserver { _, _ in deadline?.cancel() })
    }
}

/// Ends its operation as timed out when the deadline is reached.
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

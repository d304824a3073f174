public import Foundation

/// An operation that finishes after a delay. It does not block a thread.
///
/// ```swift
/// queue.addSequentialOperations([prepare, DelayOperation(by: .seconds(5)), send], waitUntilFinished: false)
/// ```
///
/// It has no timeout. Cancelling it ends it immediately. Unchecked for the same reason as its superclass.
public final class DelayOperation: AsyncOperation, @unchecked Sendable {
    private enum End {
        case after(TimeInterval)
        case at(Date)
    }

    private let end: End

    /// Creates an operation that finishes a time span after its start.
    ///
    /// - Parameters:
    ///   - span: The delay in seconds or as a `Duration`. Zero, negative and NaN values mean no delay. Infinite values,
    ///     and values of a hundred years or more, mean that the operation lasts until it is cancelled.
    ///   - name: The name of the operation, for log texts.
    public init(by span: some TimeSpan, name: String? = nil) {
        end = .after(span.timeInterval)
        super.init(name: name, timeout: TimeInterval.infinity)
    }

    /// Creates an operation that finishes at a date, or as soon as it starts if that has passed.
    ///
    /// - Parameters:
    ///   - date: The date at which the operation finishes.
    ///   - name: The name of the operation, for log texts.
    public init(until date: Date, name: String? = nil) {
        end = .at(date)
        super.init(name: name, timeout: TimeInterval.infinity)
    }

    /// Schedules the finish.
    public override func execute() {
        let seconds =
            switch end {
            case .after(let seconds): seconds
            case .at(let date): date.timeIntervalSinceNow
            }
        guard seconds > 0 else { return finish() }
        // Observers may take long, and other deadlines wait for the timer's thread.
        let target = DeadlineAction { DispatchQueue.global().async { self.finish() } }
        let deadline = DeadlineTimer.shared.schedule(after: seconds, target)
        addObserver(FinishedObserver { _, _ in deadline?.cancel() })
    }
}

public import Foundation

/// An operation that lasts a while and does nothing. No thread is blocked.
///
/// ```swift
/// queue.addSequentialOperations([prepare, DelayOperation(by: .seconds(5)), send], waitUntilFinished: false)
/// ```
///
/// It has no timeout. Cancelling it ends it at once. Unchecked for the reason of its superclass.
public final class DelayOperation: AsyncOperation, @unchecked Sendable {
    private enum End {
        case after(TimeInterval)
        case at(Date)
    }

    private let end: End

    /// Makes an operation that is finished a while after its start.
    ///
    /// - Parameters:
    ///   - span: How long it lasts, in seconds or as a `Duration`. Zero, negative and undefined values mean no time at all,
    ///     infinite values and those of more than a hundred years that it lasts until it is cancelled.
    ///   - name: The name of the operation, for people.
    public init(by span: some TimeSpan, name: String? = nil) {
        end = .after(span.timeInterval)
        super.init(name: name, timeout: TimeInterval.infinity)
    }

    /// Makes an operation that is finished at a date: as soon as it starts, if that has passed.
    ///
    /// - Parameters:
    ///   - date: When it ends.
    ///   - name: The name of the operation, for people.
    public init(until date: Date, name: String? = nil) {
        end = .at(date)
        super.init(name: name, timeout: TimeInterval.infinity)
    }

    /// Waits for the end.
    public override func execute() {
        let seconds =
            switch end {
            case .after(let seconds): seconds
            case .at(let date): date.timeIntervalSinceNow
            }
        guard seconds > 0 else { return finish() }
        // Observers may take their time, and every other deadline waits for the timer's thread.
        let target = DeadlineAction { DispatchQueue.global().async { self.finish() } }
        let deadline = DeadlineTimer.shared.schedule(after: seconds, target)
        addObserver(FinishedObserver { _, _ in deadline?.cancel() })
    }
}

import Foundation

/// The state of a ``LocalTask``.
struct LocalTaskState {
    /// The next step for the pending request.
    enum Step: Equatable {
        case nothing
        case look(after: TimeInterval, number: Int)
        case enqueue(number: Int)
    }

    /// The pending request.
    private(set) var requested: RequestedTask?
    /// The number of the request. It increases whenever the request changes.
    private(set) var number = 0
    /// The number of the request that was enqueued.
    private var queued: Int?
    /// The deadline at which the clock is read again.
    var deadline: Deadline?
    /// The operation in the queue for the request.
    var operation: AsyncOperation?
    /// The current run.
    var run: TaskRun?

    /// Replaces or removes the pending request. Returns the deadline and the operation to cancel.
    mutating func put(_ requested: RequestedTask?) -> (Deadline?, AsyncOperation?) {
        self.requested = requested
        number &+= 1
        return (deadline.take(), operation.take())
    }

    /// Returns the next step. Each request is enqueued once.
    mutating func nextStep(_ now: Date, _ longestWait: TimeInterval) -> Step {
        guard let requested, run == nil, queued != number else { return .nothing }
        let wait = requested.earliestBeginDate?.timeIntervalSince(now) ?? 0
        guard wait > 0 else {
            queued = number
            return .enqueue(number: number)
        }
        return .look(after: min(wait, longestWait), number: number)
    }

    /// Makes a run of the request when the queue starts its operation. Returns nil if the request was replaced or
    /// cancelled.
    mutating func begin(_ number: Int, _ makeRun: (RequestedTask) -> TaskRun) -> TaskRun? {
        guard self.number == number, let requested else { return nil }
        let run = makeRun(requested)
        self.run = run
        self.requested = nil
        operation = nil
        return run
    }

    /// Removes the request when its operation was cancelled before its turn.
    mutating func forget(_ number: Int) {
        guard self.number == number else { return }
        requested = nil
        operation = nil
    }
}

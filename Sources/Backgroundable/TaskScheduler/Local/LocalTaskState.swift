import Foundation

/// What a ``LocalTask`` knows.
struct LocalTaskState {
    /// What can be done for the request that waits.
    enum Step: Equatable {
        case nothing
        case look(after: TimeInterval, number: Int)
        case enqueue(number: Int)
    }

    /// The request that waits.
    private(set) var requested: RequestedTask?
    /// Tells a newer request from an older one; grows whenever the request changes.
    private(set) var number = 0
    /// The number of the request that stands in the queue.
    private var queued: Int?
    /// When the clock is looked at again for the request.
    var deadline: Deadline?
    /// What stands in the queue for the request.
    var operation: AsyncOperation?
    /// The run that is under way.
    var run: TaskRun?

    /// Puts a request, or none, in the place of the one that waits. Returns what is to be cancelled with that.
    mutating func put(_ requested: RequestedTask?) -> (Deadline?, AsyncOperation?) {
        self.requested = requested
        number &+= 1
        return (deadline.take(), operation.take())
    }

    /// What is to be done. A request is enqueued once.
    mutating func nextStep(_ now: Date, _ longestWait: TimeInterval) -> Step {
        guard let requested, run == nil, queued != number else { return .nothing }
        let wait = requested.earliestBeginDate?.timeIntervalSince(now) ?? 0
        guard wait > 0 else {
            queued = number
            return .enqueue(number: number)
        }
        return .look(after: min(wait, longestWait), number: number)
    }

    /// The queue has come to the request: it becomes a run, unless it was replaced or taken back meanwhile.
    mutating func begin(_ number: Int, _ makeRun: (RequestedTask) -> TaskRun) -> TaskRun? {
        guard self.number == number, let requested else { return nil }
        let run = makeRun(requested)
        self.run = run
        self.requested = nil
        operation = nil
        return run
    }

    /// Somebody cancelled the operation before its turn: that takes the request back.
    mutating func forget(_ number: Int) {
        guard self.number == number else { return }
        requested = nil
        operation = nil
    }
}

import Errand
import Synchronization

/// A job on its way through a ``ServedPool``: it waits for a child, and learns what the child reports.
///
/// Its task sleeps from the time at which it asks for a child until there is something to store or an outcome: the
/// children's thread passes the next job to a child itself.
final class ServedRun: Sendable {
    /// What there is to do for its task.
    enum Step {
        /// It has a child that is to be started.
        case start(ServedChild)
        case store(JobReports)
        /// The outcome, and the child that has ended before it had reported one, with its result.
        case end(HandlerOutcome, (child: ServedChild, result: ChildResult)?)
    }

    fileprivate struct State {
        var start: ServedChild?
        var reports = JobReports()
        var end: (outcome: HandlerOutcome, lost: (child: ServedChild, result: ChildResult)?)?
        var waiter: CheckedContinuation<Step, Never>?
        /// The child that has the job, or had it.
        var child: ServedChild?
        var isCancelled = false
    }

    let id: String
    let token: Token
    /// The job as its child gets it.
    let line: [UInt8]
    private let state = Mutex(State())

    init(_ job: ServedJob) { (id, token, line) = (job.facts.id, job.facts.token, job.line) }

    /// Waits for the next step.
    func next() async -> Step {
        await withCheckedContinuation { continuation in
            let step = state.withLock { state -> Step? in
                let step = state.takeStep()
                if step == nil { state.waiter = continuation }
                return step
            }
            if let step { continuation.resume(returning: step) }
        }
    }

    /// Cancels it. If no child has the job, none gets it any more.
    ///
    /// - Returns: The child that has the job.
    func cancel() -> ServedChild? {
        let child = state.withLock { state in
            state.isCancelled = true
            return state.child
        }
        if child == nil { end(.failed("stopped before it had a child")) }
        return child
    }

    /// Notes the child that has the job.
    ///
    /// - Returns: `false` if it was cancelled.
    func assign(_ child: ServedChild) -> Bool {
        state.withLock { state in
            guard !state.isCancelled else { return false }
            state.child = child
            return true
        }
    }

    /// Gives it a child that is to be started.
    ///
    /// - Returns: `false` if it was cancelled.
    func start(_ child: ServedChild) -> Bool {
        change { state in
            guard !state.isCancelled else { return false }
            state.start = child
            return true
        }
    }

    /// Adds what is to be stored; of several reports only the last one is.
    func report(_ body: (inout JobReports) -> Void) {
        _ = change { state in
            body(&state.reports)
            return true
        }
    }

    /// Ends it.
    ///
    /// - Returns: `false` if it has ended before.
    @discardableResult
    func end(_ outcome: HandlerOutcome, lost: (child: ServedChild, result: ChildResult)? = nil) -> Bool {
        change { state in
            guard state.end == nil else { return false }
            state.end = (outcome, lost)
            return true
        }
    }

    /// Changes the state, and resumes the task if there is something for it.
    private func change(_ body: (inout State) -> Bool) -> Bool {
        let (result, waiter, step) = state.withLock { state in
            let result = body(&state)
            guard let waiter = state.waiter, let step = state.takeStep() else {
                return (result, CheckedContinuation<Step, Never>?.none, Step?.none)
            }
            state.waiter = nil
            return (result, waiter, step)
        }
        if let step { waiter?.resume(returning: step) }
        return result
    }
}

extension ServedRun.State {
    /// Removes the next step: what is to be stored comes before the end.
    fileprivate mutating func takeStep() -> ServedRun.Step? {
        if let child = start {
            start = nil
            return .start(child)
        }
        if !reports.isEmpty {
            defer { reports = JobReports() }
            return .store(reports)
        }
        return end.map { .end($0.outcome, $0.lost) }
    }
}

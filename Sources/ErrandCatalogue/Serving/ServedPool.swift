import Errand
import Synchronization

/// The children of a `serve` operation. They start when there are jobs, and live until the worker ends.
package final class ServedPool: Sendable {
    private struct State {
        var free: [ServedChild] = []
        /// The children that have a job or are free.
        var count = 0
        /// The jobs that wait for a child, in order.
        var waiting: [ServedRun] = []
        /// How many children in a row have ended before they had done a job.
        var failures = 0
        var failedAt = ContinuousClock.now
    }

    private static let longestPause = Duration.seconds(5)

    private let operation: String
    /// The command of the children.
    package let command: ServedCommand
    private let state = Mutex(State())

    init(_ operation: String, _ command: ServedCommand) {
        self.operation = operation
        self.command = command
    }

    /// Lets a child run a job, which waits for one while all have others.
    ///
    /// If the task is cancelled, the child that has the job is stopped.
    ///
    /// - Parameters:
    ///   - store: Stores what the child has reported meanwhile; of several reports only the last one.
    ///   - ended: Called with the result of a child that has ended before it had reported an outcome.
    /// - Returns: The outcome, after the child has reported it or has ended.
    func run(
        _ job: ServedJob,
        store: (JobReports) async -> Void,
        ended: (ChildResult) async -> Void = { _ in }
    ) async -> HandlerOutcome {
        let run = ServedRun(job)
        return await withTaskCancellationHandler {
            place(run)
            while true {
                switch await run.next() {
                case .start(let child): await start(child, for: run)
                case .store(let reports): await store(reports)
                case .end(let outcome, let lost):
                    guard let lost else { return outcome }
                    await ended(lost.result)
                    release(lost.child)
                    return outcome
                }
            }
        } onCancel: {
            if let child = run.cancel() {
                child.stop(for: run)
            } else {
                state.withLock { $0.waiting.removeAll { $0 === run } }
            }
        }
    }

    private func start(_ child: ServedChild, for run: ServedRun) async {
        await pause()
        // Another job may have it.
        guard !Task.isCancelled else { return release(child) }
        child.start(operation: operation)
        switch child.begin(run) {
        case .begun: break
        case .cancelled: release(child)
        case .ended(let result, let outcome): if !run.end(outcome, lost: (child, result)) { release(child) }
        }
    }

    /// Children that end at once must not be started again and again without a pause.
    private func pause() async {
        let (failures, failedAt) = state.withLock { ($0.failures, $0.failedAt) }
        guard failures > 0 else { return }
        let pause = min(.milliseconds(100) * (1 << min(failures - 1, 6)), Self.longestPause)
        try? await Task.sleep(until: failedAt + pause, clock: .continuous)
    }

    // MARK: Jobs and children

    /// Gives a child to a job, or lets it wait.
    private func place(_ run: ServedRun) {
        guard var child = takeChild(orWait: run) else { return }
        if !pass(&child, to: run) { release(child) }
    }

    /// A child has done a job, has ended, or is not needed: the next job gets it, or another child in its place.
    private func release(_ child: ServedChild) {
        let stays = child.isUsable && !child.isWorn
        if !stays { child.finish() }
        noteFailure(of: child)
        var next = stays ? child : newChild()
        while let run = takeJob(orKeep: next) { if pass(&next, to: run) { return } }
    }

    /// Passes a job to a child, or the child to the task of the job, which starts it. One that has ended is replaced.
    ///
    /// - Returns: `false` if the job was cancelled.
    private func pass(_ child: inout ServedChild, to run: ServedRun) -> Bool {
        if child.isStarted, child.isUsable {
            switch child.begin(run) {
            case .begun: return true
            case .cancelled: return false
            case .ended: break
            }
        }
        if child.isStarted { child = newChild() }
        return run.start(child)
    }

    private func newChild() -> ServedChild { ServedChild(command) { [weak self] in self?.release($0) } }

    /// Returns a free child or a new one; `nil` if there are enough, so that the job waits now.
    private func takeChild(orWait run: ServedRun) -> ServedChild? {
        state.withLock { state in
            if let child = state.free.popLast() { return child }
            guard state.count < command.instances else {
                state.waiting.append(run)
                return nil
            }
            state.count += 1
            return newChild()
        }
    }

    /// Returns the job that has waited longest; `nil` if there is none, so that the child is free now.
    private func takeJob(orKeep child: ServedChild) -> ServedRun? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            if child.isStarted { state.free.append(child) } else { state.count -= 1 }
            return nil
        }
    }

    private func noteFailure(of child: ServedChild) {
        state.withLock { state in
            if child.hasWorked { state.failures = 0 }
            if child.hasFailed { (state.failures, state.failedAt) = (state.failures + 1, .now) }
        }
    }
}

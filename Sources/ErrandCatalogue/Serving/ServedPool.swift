import Errand
import Synchronization

/// The children of a `serve` operation. They start when there are jobs, and live until the worker ends.
package final class ServedPool: Sendable {
    private struct State {
        var free: [ServedChild] = []
        /// The children that have a job or are free.
        var count = 0
        var waiting: [(number: UInt64, continuation: CheckedContinuation<ServedChild?, Never>)] = []
        var lastNumber: UInt64 = 0
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
    /// - Parameters:
    ///   - store: Stores what the child has reported meanwhile.
    ///   - ended: Called with the result of a child that has ended before it had reported an outcome.
    /// - Returns: The outcome, after the child has reported it or has ended.
    func run(
        _ job: ServedJob,
        store: (JobReports) async -> Void,
        ended: (ChildResult) async -> Void = { _ in }
    ) async -> HandlerOutcome {
        while let child = await acquire() {
            let outcome = await child.run(job, store: store, ended: ended)
            release(child)
            if let outcome { return outcome }
        }
        return .failed("stopped before it had a child")
    }

    // MARK: Acquiring and releasing children

    private func acquire() async -> ServedChild? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let child = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(number, continuation) }
        } onCancel: {
            giveUp(number)
        }
        guard let child, !child.isStarted else { return child }
        await pause()
        guard !Task.isCancelled else {
            release(child)
            return nil
        }
        child.start(operation: operation)
        return child
    }

    private func wait(_ number: UInt64, _ continuation: CheckedContinuation<ServedChild?, Never>) {
        guard !Task.isCancelled else { return continuation.resume(returning: nil) }
        let child = state.withLock { state -> ServedChild? in
            while let child = state.free.popLast() {
                if child.isUsable { return child }
                state.count -= 1
            }
            if state.count < command.instances {
                state.count += 1
                return ServedChild(command)
            }
            state.waiting.append((number, continuation))
            return nil
        }
        if let child { continuation.resume(returning: child) } else if Task.isCancelled { giveUp(number) }
    }

    private func giveUp(_ number: UInt64) {
        let continuation = state.withLock { state in
            let index = state.waiting.firstIndex { $0.number == number }
            return index.map { state.waiting.remove(at: $0).continuation }
        }
        continuation?.resume(returning: nil)
    }

    /// Children that end at once must not be started again and again without a pause.
    private func pause() async {
        let (failures, failedAt) = state.withLock { ($0.failures, $0.failedAt) }
        guard failures > 0 else { return }
        let pause = min(.milliseconds(100) * (1 << min(failures - 1, 6)), Self.longestPause)
        try? await Task.sleep(until: failedAt + pause, clock: .continuous)
    }

    private func release(_ child: ServedChild) {
        let stays = child.isUsable && !child.isWorn
        if !stays { child.finish() }
        let next = state.withLock { state -> (ServedChild, CheckedContinuation<ServedChild?, Never>)? in
            if child.hasWorked { state.failures = 0 }
            if child.hasFailed { (state.failures, state.failedAt) = (state.failures + 1, .now) }
            if !state.waiting.isEmpty {
                return (stays ? child : ServedChild(command), state.waiting.removeFirst().continuation)
            }
            if stays { state.free.append(child) } else { state.count -= 1 }
            return nil
        }
        if let next { next.1.resume(returning: next.0) }
    }
}

public import Foundation

extension Operation {
    /// Waits until the operation has finished, however it ended. Does not block a thread.
    ///
    /// If an ``AsyncOperation`` is cancelled or finished before it was added to a queue or started, the wait ends,
    /// because the operation will never run.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled first; the operation continues.
    public func finished() async throws(CancellationError) {
        try await PendingWait.wait { wait in
            if (self as? AsyncOperation)?.resumeIfUnused(wait) != true { resumeWhenFinished(wait) }
        }
    }

    fileprivate func resumeWhenFinished(_ wait: PendingWait) {
        FinishWatcher.watch(self) { wait.resume(true) }
    }
}

extension AsyncOperation {
    /// Resumes `wait` if the operation ends unused: in no queue and not started. Returns whether it has already resumed
    /// it.
    fileprivate final func resumeIfUnused(_ wait: PendingWait) -> Bool {
        guard !state.facts.isUsed else { return false }
        attach().0.state.withLock { $0.waits.append(wait) }
        let facts = state.confirm()
        let isOver = facts.contains(.endReported) && !facts.isUsed
        if isOver { wait.resume(true) }
        return isOver
    }

    /// Resumes the waiting tasks of an operation that ended before its start, if it is in no queue.
    final func resumeWaitsIfUnused() {
        guard let attachments, !state.facts.isUsed else { return }
        let waits = attachments.state.withLock { state in
            defer { state.waits = [] }
            return state.waits
        }
        for wait in waits { wait.resume(true) }
    }

    /// Waits until the operation has finished, and throws if it did not succeed. Does not block a thread.
    ///
    /// ```swift
    /// queue.addOperation(upload)
    /// try await upload.succeeded()
    /// ```
    ///
    /// - Throws: The operation's first error; ``OperationError/timedOut(after:)`` after a timeout; `CancellationError`
    ///   if the operation was cancelled without an error, or if the waiting task is cancelled first.
    public final func succeeded() async throws {
        try await finished()
        if let error = errors.first { throw error }
        if ending == .cancelled { throw CancellationError() }
    }
}

extension OperationQueue {
    /// Waits until the queue is empty. Does not block a thread.
    ///
    /// Operations that are added during the wait are waited for too.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled first; the queue continues.
    public func drained() async throws(CancellationError) {
        if let queue = self as? BackgroundQueue {
            return try await PendingWait.wait(queue.resumeWhenEmpty)
        }
        while let last = operations.last { try await PendingWait.wait(last.resumeWhenFinished) }
    }
}

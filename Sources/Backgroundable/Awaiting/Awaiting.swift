public import Foundation

extension Operation {
    /// Waits until the operation has finished, however it ended. No thread is blocked.
    ///
    /// An ``AsyncOperation`` that is cancelled, or finished by hand, before it was added to a queue or started is not waited for
    /// any longer: nothing of it will run.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled before; the operation goes on.
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
    /// Has `wait` resumed if the operation ends unused: in no queue, and not started. True if it has done so.
    fileprivate final func resumeIfUnused(_ wait: PendingWait) -> Bool {
        guard !state.facts.isUsed else { return false }
        attach().0.state.withLock { $0.waits.append(wait) }
        let facts = state.confirm()
        let isOver = facts.contains(.told) && !facts.isUsed
        if isOver { wait.resume(true) }
        return isOver
    }

    /// The operation has ended and had not started: if it is in no queue, nobody need wait for it.
    final func resumeWaitsIfUnused() {
        guard let attachments, !state.facts.isUsed else { return }
        let waits = attachments.state.withLock { state in
            defer { state.waits = [] }
            return state.waits
        }
        for wait in waits { wait.resume(true) }
    }

    /// Waits until the operation has finished, and makes sure that it succeeded.
    ///
    /// ```swift
    /// queue.addOperation(upload)
    /// try await upload.succeeded()
    /// ```
    ///
    /// - Throws: The operation's first error; ``OperationError/timedOut(after:)`` after a timeout; `CancellationError` if it
    ///   was cancelled without an error, or if the waiting task is cancelled before the operation has finished.
    public final func succeeded() async throws {
        try await finished()
        if let error = errors.first { throw error }
        if ending == .cancelled { throw CancellationError() }
    }
}

extension OperationQueue {
    /// Waits until the queue is empty. No thread is blocked.
    ///
    /// Work that is added while this waits is waited for too.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled before; the queue goes on.
    public func drained() async throws(CancellationError) {
        if let queue = self as? BackgroundQueue {
            return try await PendingWait.wait(queue.resumeWhenEmpty)
        }
        while let last = operations.last { try await PendingWait.wait(last.resumeWhenFinished) }
    }
}

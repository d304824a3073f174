public import Foundation

extension Operation {
    /// Waits until the operation has finished, however it ended. No thread is blocked.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled before; the operation goes on.
    public func finished() async throws(CancellationError) {
        try await PendingWait.wait { wait in FinishWatcher.watch(self) { wait.resume(true) } }
    }
}

extension AsyncOperation {
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
        while let last = operations.last { try await last.finished() }
    }
}

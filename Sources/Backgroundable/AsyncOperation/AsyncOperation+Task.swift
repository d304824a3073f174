import Foundation

extension AsyncOperation {
    /// Makes an operation whose work is asynchronous code.
    ///
    /// The work runs in a `Task`. The operation is finished when that returns, with the error that it throws; when the
    /// operation is cancelled or times out, the task is cancelled. While a cancelled task goes on it counts in
    /// ``BackgroundQueue/overrunCount``.
    ///
    /// ```swift
    /// AsyncOperation(name: "refresh", timeout: 20) { operation in
    ///     let page = try await fetch(url)
    ///     try await store(page)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: What the operation is called, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start. Zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work. It need not call ``finish()``; if it does, the operation is finished from then on.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable (AsyncOperation) async throws -> Void
    ) {
        self.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { $0.beginTask(work) }
    }

    /// Makes an operation whose work is asynchronous code that does not need the operation.
    ///
    /// The work runs in a `Task`. The operation is finished when that returns, with the error that it throws; when the
    /// operation is cancelled or times out, the task is cancelled.
    ///
    /// ```swift
    /// AsyncOperation(name: "refresh") { try await store(fetch(url)) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start. Zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work. A closure that awaits nothing is not taken for asynchronous: it runs on a thread of the queue.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable () async throws -> Void
    ) {
        self.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { $0.beginTask { _ in try await work() } }
    }

    /// Runs `work` in a task of the operation's quality of service, and finishes the operation when that returns. To be
    /// called while the operation runs, once.
    final func beginTask(_ work: @escaping @Sendable (AsyncOperation) async throws -> Void) {
        state.beginTask()
        let (attachments, _) = attach()
        let task = Task(priority: effectiveQualityOfService.taskPriority) {
            do {
                try await work(self)
                self.end(with: .success(()))
            } catch {
                self.end(with: .failure(error))
            }
            self.workReturned()
        }
        attachments.state.withLock { $0.task = task }
        // It may have ended in the meantime, before there was a task to cancel.
        guard let ending else { return }
        let late = attachments.state.withLock { $0.task.take() }
        if ending != .finished { late?.cancel() }
    }
}

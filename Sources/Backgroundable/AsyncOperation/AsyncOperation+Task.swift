import Foundation

extension AsyncOperation {
    /// Creates an operation whose work is asynchronous code.
    ///
    /// The work runs in a `Task`. The operation finishes when the work returns or throws. If the operation is cancelled
    /// or times out, the task is cancelled; until a cancelled task returns, it counts in
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
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work. It need not call ``finish()``; if it does, the operation has finished from then on. If it
    ///     throws a `CancellationError`, the operation is cancelled.
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

    /// Creates an operation whose work is asynchronous code that does not need the operation.
    ///
    /// The work runs in a `Task`. The operation finishes when the work returns or throws. If the operation is cancelled
    /// or times out, the task is cancelled.
    ///
    /// ```swift
    /// AsyncOperation(name: "refresh") { try await store(fetch(url)) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work. A closure that awaits nothing is not asynchronous for Swift and runs on a thread of the
    ///     queue.
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

    /// Runs `work` in a task with the operation's quality of service, and ends the operation when it returns or throws.
    ///
    /// Must be called once, while the operation runs.
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
        // The operation may have ended before there was a task to cancel.
        guard let ending else { return }
        let late = attachments.state.withLock { $0.task.take() }
        if ending != .finished { late?.cancel() }
    }
}

import Dispatch

/// Requests, from ordinary threads. On a broker these calls block their thread until the broker has answered, so
/// asynchronous code has its own versions of them.
extension TaskScheduler {
    /// Submits a copy of a request. It takes the place of the request of the same identifier that waits, if there is
    /// one; a task of the identifier that runs goes on undisturbed, and the new one is launched after it.
    ///
    /// A request of an identifier that nobody has registered yet waits for that, too.
    ///
    /// - Throws: ``TaskScheduler/Error``: `notPermitted` for an identifier that is not permitted; on a broker also
    ///   `tooManyPendingTaskRequests`, `unavailable` and `outcomeUnknown`.
    public func submit(_ request: TaskRequest) throws {
        let requested = try checked(request)
        try blocking { backlog.submit(requested, $0) }
    }

    /// Takes back the request of this identifier that waits: it is never launched. Does nothing if there is none, nor
    /// to a task that runs.
    ///
    /// On a broker that could not be asked this logs the reason; use the asynchronous version to learn of it.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        try? blocking { backlog.cancel(identifier, $0) }
    }

    /// Takes back every request that waits, as `cancel(taskRequestWithIdentifier:)` does for one.
    public func cancelAllTaskRequests() {
        try? blocking { backlog.cancelAll($0) }
    }

    /// Hands copies of the requests that wait to a closure, in no particular order, here or on another thread.
    ///
    /// A broker that could not be asked gives none and logs the reason.
    public func getPendingTaskRequests(completionHandler: @escaping @Sendable ([TaskRequest]) -> Void) {
        backlog.pending { answer in
            completionHandler(((try? answer.get()) ?? []).map { $0.makeRequest() })
        }
    }

    /// The request's copy, if its identifier is permitted.
    private func checked(_ request: TaskRequest) throws(Error) -> RequestedTask {
        let requested = request.copy
        guard registry.isPermitted(requested.identifier) else { throw Error.notPermitted(requested.identifier) }
        return requested
    }

    /// Waits on this thread for the answer to a call.
    private func blocking<Value: Sendable>(
        _ call: (@escaping TaskAnswer<Value>) -> Void
    ) throws(Error) -> Value {
        let answer = Locked<Result<Value, Error>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
        call { result in
            answer.withLock { $0 = result }
            isThere.signal()
        }
        isThere.wait()
        guard let result = answer.withLock({ $0 }) else { throw Error(.unavailable, "there was no answer") }
        return try result.get()
    }
}

/// Requests, from asynchronous code.
extension TaskScheduler {
    /// Submits a copy of a request, as its synchronous version does, without blocking a thread.
    ///
    /// - Throws: ``TaskScheduler/Error``.
    public func submit(_ request: TaskRequest) async throws {
        let requested = try checked(request)
        try await suspended { backlog.submit(requested, $0) }
    }

    /// Takes back the request of this identifier that waits, without blocking a thread.
    ///
    /// - Throws: ``TaskScheduler/Error`` when a broker could not be asked; never on a local scheduler.
    public func cancel(taskRequestWithIdentifier identifier: String) async throws {
        try await suspended { backlog.cancel(identifier, $0) }
    }

    /// Takes back every request that waits, without blocking a thread.
    ///
    /// - Throws: ``TaskScheduler/Error`` when a broker could not be asked; never on a local scheduler.
    public func cancelAllTaskRequests() async throws {
        try await suspended { backlog.cancelAll($0) }
    }

    /// Copies of the requests that wait, in no particular order.
    ///
    /// A broker that could not be asked gives none and logs the reason; ``loadPendingTaskRequests()`` throws it.
    public func pendingTaskRequests() async -> [TaskRequest] {
        (try? await loadPendingTaskRequests()) ?? []
    }

    /// Copies of the requests that wait, in no particular order.
    ///
    /// - Throws: ``TaskScheduler/Error`` when a broker could not be asked; never on a local scheduler.
    public func loadPendingTaskRequests() async throws -> [TaskRequest] {
        try await suspended { backlog.pending($0) }.map { $0.makeRequest() }
    }

    private func suspended<Value: Sendable>(
        _ call: (@escaping TaskAnswer<Value>) -> Void
    ) async throws(Error) -> Value {
        let result = await withCheckedContinuation { continuation in
            call { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}

import Dispatch

/// Requests from synchronous code. On a broker these calls block their thread until the broker has replied;
/// asynchronous code uses the versions below.
extension TaskScheduler {
    /// Submits a copy of a request. The copy replaces a pending request of the same identifier. A running task of the
    /// identifier continues, and the new one is launched after it.
    ///
    /// A request whose identifier has no handler yet waits for its registration.
    ///
    /// - Throws: ``TaskScheduler/Error``: `notPermitted` if the identifier is not permitted; on a broker also
    ///   `tooManyPendingTaskRequests`, `unavailable` and `outcomeUnknown`.
    public func submit(_ request: TaskRequest) throws {
        let requested = try checked(request)
        try blocking { backlog.submit(requested, $0) }
    }

    /// Cancels the pending request of this identifier. Does nothing if there is none. A running task continues.
    ///
    /// If a broker cannot be reached, this logs the reason; the asynchronous version throws it.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        try? blocking { backlog.cancel(identifier, $0) }
    }

    /// Cancels all pending requests, like `cancel(taskRequestWithIdentifier:)` for each.
    public func cancelAllTaskRequests() {
        try? blocking { backlog.cancelAll($0) }
    }

    /// Passes copies of the pending requests to a closure, in no particular order, on this or another thread.
    ///
    /// If a broker cannot be reached, the closure receives none and the reason is logged.
    public func getPendingTaskRequests(completionHandler: @escaping @Sendable ([TaskRequest]) -> Void) {
        backlog.pending { answer in
            completionHandler(((try? answer.get()) ?? []).map { $0.makeRequest() })
        }
    }

    /// Returns the request's copy. Throws if its identifier is not permitted.
    private func checked(_ request: TaskRequest) throws(Error) -> RequestedTask {
        let requested = request.copy
        guard registry.isPermitted(requested.identifier) else { throw Error.notPermitted(requested.identifier) }
        return requested
    }

    /// Blocks this thread until the result of a backlog call arrives.
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
        guard let result = answer.withLock({ $0 }) else { throw Error(.unavailable, "there was no reply") }
        return try result.get()
    }
}

/// Requests from asynchronous code.
extension TaskScheduler {
    /// Submits a copy of a request like the synchronous version, without blocking a thread.
    ///
    /// - Throws: ``TaskScheduler/Error``.
    public func submit(_ request: TaskRequest) async throws {
        let requested = try checked(request)
        try await suspended { backlog.submit(requested, $0) }
    }

    /// Cancels the pending request of this identifier, without blocking a thread.
    ///
    /// - Throws: ``TaskScheduler/Error`` if a broker cannot be reached. A local scheduler never throws.
    public func cancel(taskRequestWithIdentifier identifier: String) async throws {
        try await suspended { backlog.cancel(identifier, $0) }
    }

    /// Cancels all pending requests, without blocking a thread.
    ///
    /// - Throws: ``TaskScheduler/Error`` if a broker cannot be reached. A local scheduler never throws.
    public func cancelAllTaskRequests() async throws {
        try await suspended { backlog.cancelAll($0) }
    }

    /// Returns copies of the pending requests, in no particular order.
    ///
    /// If a broker cannot be reached, this returns none and logs the reason; ``loadPendingTaskRequests()`` throws it.
    public func pendingTaskRequests() async -> [TaskRequest] {
        (try? await loadPendingTaskRequests()) ?? []
    }

    /// Returns copies of the pending requests, in no particular order.
    ///
    /// - Throws: ``TaskScheduler/Error`` if a broker cannot be reached. A local scheduler never throws.
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

/// Gets the answer to a call.
package typealias TaskAnswer<Value> = @Sendable (Result<Value, TaskScheduler.Error>) -> Void

/// Where a scheduler's requests wait.
///
/// Each answer comes once, before the call returns or later on another thread.
package protocol TaskBacklog: Sendable {
    /// Whether tasks of this identifier can be kept here at all.
    func accepts(_ identifier: String) -> Bool

    /// A handler was registered for an identifier.
    func noteRegistration(of identifier: String)

    /// Keeps a request in place of the one of its identifier that waits.
    func submit(_ requested: RequestedTask, _ answer: @escaping TaskAnswer<Void>)

    /// Forgets the request of this identifier that waits.
    func cancel(_ identifier: String, _ answer: @escaping TaskAnswer<Void>)

    /// Forgets every request that waits.
    func cancelAll(_ answer: @escaping TaskAnswer<Void>)

    /// The requests that wait.
    func pending(_ answer: @escaping TaskAnswer<[RequestedTask]>)
}

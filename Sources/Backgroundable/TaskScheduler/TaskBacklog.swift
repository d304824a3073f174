/// Receives the result of a backlog call.
package typealias TaskAnswer<Value> = @Sendable (Result<Value, TaskScheduler.Error>) -> Void

/// The storage of a scheduler's pending requests.
///
/// Each call passes its result to its closure once, before it returns or later on another thread.
package protocol TaskBacklog: Sendable {
    /// Returns whether the backlog can store tasks of this identifier.
    func accepts(_ identifier: String) -> Bool

    /// Notes that a handler was registered for an identifier.
    func noteRegistration(of identifier: String)

    /// Stores a request. It replaces a pending request of the same identifier.
    func submit(_ requested: RequestedTask, _ answer: @escaping TaskAnswer<Void>)

    /// Removes the pending request of this identifier.
    func cancel(_ identifier: String, _ answer: @escaping TaskAnswer<Void>)

    /// Removes all pending requests.
    func cancelAll(_ answer: @escaping TaskAnswer<Void>)

    /// Reads the pending requests.
    func pending(_ answer: @escaping TaskAnswer<[RequestedTask]>)
}

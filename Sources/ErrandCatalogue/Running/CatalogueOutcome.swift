/// How an operation of the catalogue ended.
package enum CatalogueOutcome: Sendable, Equatable {
    /// The work is done.
    ///
    /// - result: The first 64 KiB of standard output or of the response body.
    case finished(result: [UInt8])
    /// The operation failed.
    ///
    /// - message: What happened, for people.
    /// - final: Whether a retry would not help.
    /// - retryAfter: The minimum wait before the next attempt, if the server specified it.
    case failed(message: String, final: Bool, retryAfter: Duration?)
    /// A signal from outside ended the command: a failure, unless the whole worker is being stopped.
    case interrupted(message: String)
    /// The command requests another run without spending an attempt.
    case retryUnspent(message: String)
    /// The machine lacked files or processes for it. The run has not started.
    case noRoom(message: String)
    /// The task was cancelled, and all its work has ended.
    case stopped

    static func failed(_ message: String, final: Bool = false) -> CatalogueOutcome {
        .failed(message: message, final: final, retryAfter: nil)
    }
}

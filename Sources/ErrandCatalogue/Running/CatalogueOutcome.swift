/// How an operation of the catalogue ended.
package enum CatalogueOutcome: Sendable, Equatable {
    /// It did its work.
    ///
    /// - result: The first 64 KiB of standard output or of the answer's body.
    case finished(result: [UInt8])
    /// It failed.
    ///
    /// - message: What happened, for people.
    /// - final: Whether trying again would not help.
    /// - retryAfter: How long to wait at least before the next attempt, if the other side said so.
    case failed(message: String, final: Bool, retryAfter: Duration?)
    /// A signal from elsewhere asked it to end, or killed it: a failure, unless the whole worker is being stopped.
    case interrupted(message: String)
    /// It asks to be run again without an attempt being spent.
    case retryUnspent(message: String)
    /// The machine had no room for it: too many files or processes. Nothing of it has begun.
    case noRoom(message: String)
    /// The task was cancelled, and nothing of the work goes on.
    case stopped

    static func failed(_ message: String, final: Bool = false) -> CatalogueOutcome {
        .failed(message: message, final: final, retryAfter: nil)
    }
}

/// How an ``AsyncOperation`` ended. Each operation has exactly one ending, determined by the first event.
public enum AsyncOperationEnding: UInt8, Sendable, Hashable, CaseIterable {
    /// ``AsyncOperation/finish()`` was called, or the work returned.
    case finished = 1
    /// `cancel()` was called, or the operation was dropped or replaced.
    case cancelled = 2
    /// The timeout passed.
    case timedOut = 3
}

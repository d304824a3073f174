/// How an ``AsyncOperation`` ended. Exactly one of these happens, whichever comes first.
public enum AsyncOperationEnding: UInt8, Sendable, Hashable, CaseIterable {
    /// Somebody called ``AsyncOperation/finish()``.
    case finished = 1
    /// Somebody called `cancel()`, or the operation was dropped or replaced.
    case cancelled = 2
    /// Its timeout passed.
    case timedOut = 3
}

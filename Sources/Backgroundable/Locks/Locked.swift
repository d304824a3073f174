/// A value that one thread at a time may touch, under a pthread mutex.
///
/// Why not `Synchronization.Mutex`: on Linux the thread sanitizer does not see it (the standard library is not
/// instrumented) and reports every access under it as a race. It knows pthread's mutexes, so what it reports about this
/// package is true.
package final class Locked<Value: ~Copyable>: Sendable {
    /// The value is behind its pointer because a class's own variable would be checked for exclusive access once more.
    private let cell: LockCell<Value>

    package init(_ value: consuming sending Value) {
        cell = LockCell(value)
    }

    /// Runs `body` with the value while no other thread has it. Not for calling other people's code, and not recursive.
    @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try cell.withLock(body)
    }
}

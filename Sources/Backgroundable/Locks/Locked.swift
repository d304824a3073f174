/// A value that is guarded by a pthread mutex.
///
/// On Linux, the thread sanitizer does not recognize `Synchronization.Mutex`, because the standard library is not
/// instrumented, and reports each access under it as a race. It does recognize pthread mutexes, so its reports about
/// this package are reliable.
package final class Locked<Value: ~Copyable>: Sendable {
    /// The value is behind a pointer, because a stored property of a class would add an exclusivity check.
    private let cell: LockCell<Value>

    package init(_ value: consuming sending Value) {
        cell = LockCell(value)
    }

    /// Runs `body` with exclusive access to the value. Not recursive; `body` must not call user code.
    @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try cell.withLock(body)
    }
}

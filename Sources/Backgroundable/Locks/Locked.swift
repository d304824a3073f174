#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A value that one thread at a time may touch, under a pthread mutex.
///
/// Why not `Synchronization.Mutex`: on Linux the thread sanitizer does not see it (the standard library is not
/// instrumented) and reports every access under it as a race. It knows pthread's mutexes, so what it reports about this
/// package is true.
///
/// Unchecked because of the pointers: they are set once, and the value is only touched while the mutex is held. (The
/// value is behind a pointer because a class's own variable would be checked for exclusive access once more.)
package final class Locked<Value: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` with the value while no other thread has it. Not for calling other people's code, and not recursive.
    @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}

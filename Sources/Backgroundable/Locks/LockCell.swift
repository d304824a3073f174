#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A value and its pthread mutex, in a memory block of their own.
///
/// ``Locked`` is a reference to such a cell. If a cell has a single owner it is cheaper without that, because it needs
/// no reference counting.
///
/// Unchecked because of the pointers: they are set once, and the value is accessed only while the mutex is held.
struct LockCell<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    init(_ value: consuming sending Value) {
        // Processors fetch cache lines of 64 bytes in pairs, so cells of different threads must be 128 bytes apart.
        let alignment = max(128, MemoryLayout<Value>.alignment)
        let mask = MemoryLayout<Value>.alignment - 1
        let offset = (MemoryLayout<pthread_mutex_t>.size + mask) & ~mask
        let size = (offset + MemoryLayout<Value>.size + alignment - 1) & ~(alignment - 1)
        let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)
        mutex = block.initializeMemory(as: pthread_mutex_t.self, repeating: pthread_mutex_t(), count: 1)
        pthread_mutex_init(mutex, nil)
        self.value = (block + offset).bindMemory(to: Value.self, capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        pthread_mutex_destroy(mutex)
        UnsafeMutableRawPointer(mutex).deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    @inline(__always)
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}

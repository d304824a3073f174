#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Lets one thread sleep until a ``MonotonicTime``, and other threads wake it earlier.
///
/// It uses a condition variable on the monotonic clock. `NSCondition` and `DispatchSemaphore` use the wall clock on
/// Linux, and would sleep too long or too short if that is set.
///
/// Unchecked because of the pointers: they are set once, and their contents are used only through pthread functions.
/// `isRung` is accessed only while the mutex is held.
final class Alarm: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isRung = false

    init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Wakes the sleeping thread. If none sleeps, the next sleep ends immediately.
    func ring() {
        pthread_mutex_lock(mutex)
        isRung = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Returns when rung or at `moment`; if that is nil, only when rung. It may also return early, so check and sleep
    /// again.
    func sleep(until moment: UInt64?) {
        pthread_mutex_lock(mutex)
        if !isRung {
            wait(until: moment)
        }
        isRung = false
        pthread_mutex_unlock(mutex)
    }

    private func wait(until moment: UInt64?) {
        guard let moment else {
            pthread_cond_wait(condition, mutex)
            return
        }
        #if canImport(Darwin)
            let now = MonotonicTime.now
            var span = timespec(nanoseconds: moment > now ? moment - now : 0)
            pthread_cond_timedwait_relative_np(condition, mutex, &span)
        #else
            var time = timespec(nanoseconds: moment)
            pthread_cond_timedwait(condition, mutex, &time)
        #endif
    }
}

extension timespec {
    fileprivate init(nanoseconds: UInt64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}

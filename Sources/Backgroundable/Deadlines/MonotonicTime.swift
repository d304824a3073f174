import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Time that only goes forward, in nanoseconds since an arbitrary moment: setting the system's clock does not move it.
enum MonotonicTime {
    /// The present moment.
    static var now: UInt64 {
        // What `DispatchTime` reads, without its way there.
        #if canImport(Darwin)
            return clock_gettime_nsec_np(CLOCK_UPTIME_RAW)
        #else
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec)
        #endif
    }

    /// A hundred years, in seconds.
    static let longestSpan: TimeInterval = 3_155_760_000

    /// The moment that lies `seconds` after now, or nil if there is no such moment: zero, negative, infinite and
    /// undefined spans, and those of more than a hundred years.
    static func after(_ seconds: TimeInterval) -> UInt64? {
        guard seconds > 0, seconds < longestSpan else { return nil }
        return now &+ UInt64(seconds * 1_000_000_000)
    }
}

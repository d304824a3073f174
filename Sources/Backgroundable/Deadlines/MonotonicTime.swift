import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Monotonic time in nanoseconds since an arbitrary moment. Setting the system's clock does not change it.
enum MonotonicTime {
    /// The current time.
    static var now: UInt64 {
        // The clock of `DispatchTime`, read directly.
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

    /// Returns the time `seconds` from now. Returns nil for zero, negative, infinite and NaN values, and for values of
    /// a hundred years or more.
    static func after(_ seconds: TimeInterval) -> UInt64? {
        guard seconds > 0, seconds < longestSpan else { return nil }
        return now &+ UInt64(seconds * 1_000_000_000)
    }
}

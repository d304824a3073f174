import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a process has used since its start.
struct ProcessUsage: Sendable, Equatable {
    /// Time on processors, its own and the system's for it, in microseconds.
    let processorMicroseconds: Int64
    /// The most memory that was resident at once, in bytes.
    let mostResidentBytes: Int64

    /// That of this process.
    static var now: ProcessUsage {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        #if canImport(Darwin)
            let unit: Int64 = 1
        #else
            let unit: Int64 = 1024
        #endif
        let microseconds = { (time: timeval) in Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_usec) }
        return ProcessUsage(
            processorMicroseconds: microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
            mostResidentBytes: highWater ?? Int64(usage.ru_maxrss) * unit
        )
    }
}

extension ProcessUsage {
    /// The most resident memory of this program. What `getrusage` tells has that of the parent in it, from before the program
    /// was loaded.
    private static var highWater: Int64? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int64($0) }.map { $0 * 1024 }
    }
}

/// A clock that all processes of the machine share and nobody sets.
enum MonotonicClock {
    /// Its time, in nanoseconds.
    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The resources that a process has used since its start.
struct ProcessUsage: Sendable, Equatable {
    /// Processor time in user and system mode, in microseconds.
    let processorMicroseconds: Int64
    /// The peak resident memory, in bytes.
    let mostResidentBytes: Int64

    /// The usage of this process.
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
    /// The peak resident memory of this program. The value of `getrusage` includes that of the parent before `exec`.
    private static var highWater: Int64? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int64($0) }.map { $0 * 1024 }
    }
}

/// A clock that all processes of the machine share and that no one can set.
enum MonotonicClock {
    /// The clock's time, in nanoseconds.
    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

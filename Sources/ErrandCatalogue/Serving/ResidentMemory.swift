import Foundation

/// What a process has in memory.
enum ResidentMemory {
    /// The bytes of a process, without what is swapped out; 0 if they cannot be read.
    static func bytes(of pid: pid_t) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let (bytes, overflows) = pages.multipliedReportingOverflow(by: Int(sysconf(Int32(_SC_PAGESIZE))))
        return overflows ? .max : bytes
    }
}

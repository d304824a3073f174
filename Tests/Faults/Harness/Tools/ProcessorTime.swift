import Foundation
import TestSupport

/// The times of the machine's processors: the proof that they were busy.
struct ProcessorTime {
    private let idle: Int
    private let all: Int

    /// Reads the current times.
    init() throws {
        let text = try String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let words = text.split(separator: "\n").first?.split(separator: " ") ?? []
        // User, nice, system, idle, I/O wait, interrupts (two kinds), steal; the other columns are parts of these.
        let times = words.dropFirst().prefix(8).compactMap { Int($0) }
        guard words.first == "cpu", times.count > 4 else { throw TestFailure("/proc/stat says \(words.prefix(9))") }
        idle = times[3] + times[4]
        all = times.reduce(0, +)
    }

    /// The idle share of the time since then, in percent.
    func idleShare(since earlier: ProcessorTime) -> Int {
        100 * (idle - earlier.idle) / max(all - earlier.all, 1)
    }
}

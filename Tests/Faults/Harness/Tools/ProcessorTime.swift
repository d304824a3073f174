import Foundation
import TestSupport

/// What the machine's processors have done so far: the proof that somebody kept them busy.
struct ProcessorTime {
    private let idle: Int
    private let all: Int

    /// Reads it now.
    init() throws {
        let text = try String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let words = text.split(separator: "\n").first?.split(separator: " ") ?? []
        // User, nice, system, idle, waiting for disks, interrupts (two kinds), other machines; what follows is part of these.
        let times = words.dropFirst().prefix(8).compactMap { Int($0) }
        guard words.first == "cpu", times.count > 4 else { throw TestFailure("/proc/stat says \(words.prefix(9))") }
        idle = times[3] + times[4]
        all = times.reduce(0, +)
    }

    /// Which part of the time since then nobody wanted the processors, in hundredths.
    func idleShare(since earlier: ProcessorTime) -> Int {
        100 * (idle - earlier.idle) / max(all - earlier.all, 1)
    }
}

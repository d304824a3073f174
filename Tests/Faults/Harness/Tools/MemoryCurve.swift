import Foundation
import Synchronization
import TestSupport

/// The memory of a process over time.
final class MemoryCurve: Sendable {
    private let name: String
    private let program: Program
    private let samples = Mutex<[Int]>([])

    /// Watches a process, which reports call by this name.
    init(_ name: String, _ program: Program) {
        self.name = name
        self.program = program
    }

    /// Reads the resident set size once, in KiB.
    func sample() throws {
        let status = try String(contentsOfFile: "/proc/\(program.pid)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let size = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw TestFailure("there is no size of process \(program.pid) in: \(status)") }
        samples.withLock { $0.append(size) }
    }

    /// Checks by medians that every tenth of the time is as large as the end of the second tenth.
    func judge(_ context: ScenarioContext) {
        let samples = samples.withLock { $0 }
        let tenths = stride(from: 0, to: samples.count, by: max(samples.count / 10, 1)).map { start in
            samples[start..<min(start + samples.count / 10, samples.count)].sorted()
        }.filter { !$0.isEmpty }.map { $0[$0.count / 2] }
        let around = samples.count / 5
        guard tenths.count >= 10, around > 4 else { return context.expect(false, "too few samples of \(name)") }
        let early = samples[(around - 5)..<(around + 5)].sorted()[5]
        context.note(
            "\(name): " + tenths.map { "\($0 / 1024)" }.joined(separator: " ") + " MiB, at two tenths \(early / 1024)"
        )
        // Within a minute a process has not filled its caches by then.
        let tolerance = context.isFull ? 0.05 : 0.15
        for (number, size) in tenths.enumerated() where number >= 2 {
            let change = Double(size) / Double(early) - 1
            context.expect(
                abs(change) <= tolerance,
                "\(name) worker: \(size) KiB in tenth \(number + 1), \(Int(change * 100)) % from \(early) KiB"
            )
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import ErrandCommandLine

/// The output of daemons does not block on its reader.
@Suite struct OutputQueueTests {
    private let reading: Int32
    private let queue: OutputQueue

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestFailure("no pipe") }
        reading = ends[0]
        queue = OutputQueue(to: OutputDescriptor(number: ends[1])) { Array("\($0) dropped\n".utf8) }
    }

    /// Reads until these lines have arrived.
    private func lines(until isWhole: ([String]) -> Bool) -> [String] {
        var bytes: [UInt8] = []
        var lines: [String] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isWhole(lines) {
            bytes += buffer[..<max(0, read(reading, &buffer, buffer.count))]
            let end = (bytes.lastIndex(of: 10) ?? -1) + 1
            lines += bytes[..<end].split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
            bytes.removeFirst(end)
        }
        return lines
    }

    @Test func `lines arrive in order, and all of them while they are read`() {
        for number in 1...1000 { queue.add(Array("line \(number)\n".utf8)) }
        #expect(lines { $0.count == 1000 } == (1...1000).map { "line \($0)" })
        #expect(queue.mark().wait(timeout: .now() + 10) == .success)
    }

    @Test func `lines beyond a megabyte are dropped, and their number is printed instead`() throws {
        let line = Array((String(repeating: "x", count: 1023) + "\n").utf8)
        for _ in 0..<2000 { queue.add(line) }
        #expect(queue.mark().wait(timeout: .now() + 0.05) == .timedOut)
        // The pipe accepts some lines meanwhile, so there may be several gaps.
        func dropped(_ line: String) -> Int? { Int(line.dropLast(" dropped".count)) }
        let came = lines { $0.reduce(0) { $0 + (dropped($1) ?? 1) } == 2000 }
        #expect(came.filter { dropped($0) == nil }.count >= 1024)
        queue.add(Array("later\n".utf8))
        #expect(lines { !$0.isEmpty } == ["later"])
    }
}

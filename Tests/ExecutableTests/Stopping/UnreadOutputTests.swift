import Foundation
import TestSupport
import Testing

@testable import ErrandCommandLine

/// What daemons write waits for no reader.
@Suite struct OutputQueueTests {
    private let reading: Int32
    private let queue: OutputQueue

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestFailure("no pipe") }
        reading = ends[0]
        queue = OutputQueue(to: OutputDescriptor(number: ends[1])) { Array("\($0) dropped\n".utf8) }
    }

    /// Reads until a line with this end has come.
    private func lines(until end: String) -> [String] {
        let end = Array("\(end)\n".utf8)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !bytes.suffix(end.count).elementsEqual(end) {
            bytes += buffer[..<max(0, read(reading, &buffer, buffer.count))]
        }
        return bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `lines come in their order, and all of them while somebody reads`() {
        for number in 1...1000 { queue.add(Array("line \(number)\n".utf8)) }
        #expect(lines(until: "line 1000") == (1...1000).map { "line \($0)" })
        #expect(queue.mark().wait(timeout: .now() + 10) == .success)
    }

    @Test func `lines beyond a megabyte are dropped, and their number stands in their place`() throws {
        let line = Array((String(repeating: "x", count: 1023) + "\n").utf8)
        for _ in 0..<2000 { queue.add(line) }
        #expect(queue.mark().wait(timeout: .now() + 0.05) == .timedOut)
        var came = lines(until: " dropped")
        let dropped = try #require(Int(came.removeLast().dropLast(" dropped".count)))
        #expect(came.count >= 1024 && came.count + dropped == 2000)
        queue.add(Array("later\n".utf8))
        #expect(lines(until: "later") == ["later"])
    }
}

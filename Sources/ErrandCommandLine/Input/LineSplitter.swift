#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A line of input and its number, from 1.
package struct InputLine: Sendable, Equatable {
    /// What the line holds.
    package enum Content: Sendable, Equatable {
        /// Its bytes, without the line's end.
        case bytes([UInt8])
        /// More bytes than a line may have; they were not kept.
        case tooLong(count: Int)
    }

    /// The line's number, from 1.
    package let number: Int
    /// What it holds.
    package let content: Content
}

/// Cuts a stream of bytes into lines and keeps no more of a line than it may have.
package struct LineSplitter: Sendable {
    private let limit: Int
    private var kept: [UInt8] = []
    /// How many bytes the line that is being read has, kept or not.
    private var count = 0
    private var number = 0

    /// Makes a splitter for lines of at most `limit` bytes.
    package init(limit: Int) { self.limit = limit }

    /// Takes bytes and appends the lines that they complete.
    package mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, into lines: inout [InputLine]) {
        var rest = bytes
        while let end = Self.lineEnd(in: rest) {
            keep(UnsafeBufferPointer(rebasing: rest[..<end]))
            lines.append(line())
            rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
        }
        keep(rest)
    }

    private static func lineEnd(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let start = bytes.baseAddress, let found = memchr(start, Int32(UInt8(ascii: "\n")), bytes.count) else {
            return nil
        }
        return UnsafeRawPointer(start).distance(to: found)
    }

    /// The last line, when the input ended without a line's end.
    package mutating func finish() -> InputLine? { count == 0 ? nil : line() }

    private mutating func keep(_ bytes: UnsafeBufferPointer<UInt8>) {
        count += bytes.count
        if count <= limit { kept.append(contentsOf: bytes) } else { kept = [] }
    }

    private mutating func line() -> InputLine {
        defer {
            kept = []
            count = 0
        }
        number += 1
        return InputLine(number: number, content: count <= limit ? .bytes(kept) : .tooLong(count: count))
    }
}

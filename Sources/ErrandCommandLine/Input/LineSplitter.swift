#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A line of input and its number, from 1.
package struct InputLine: Sendable, Equatable {
    /// The content of a line.
    package enum Content: Sendable, Equatable {
        /// The bytes, without the line feed.
        case bytes([UInt8])
        /// The line exceeds the limit; its bytes were not kept.
        case tooLong(count: Int)
    }

    /// The line's number, from 1.
    package let number: Int
    /// The content of the line.
    package let content: Content
}

/// Splits a stream of bytes into lines, and keeps at most the limit of a line.
package struct LineSplitter: Sendable {
    private let limit: Int
    private var kept: [UInt8] = []
    /// The number of bytes of the current line, kept or not.
    private var count = 0
    private var number = 0

    /// Makes a splitter for lines of at most `limit` bytes.
    package init(limit: Int) { self.limit = limit }

    /// Adds bytes, and appends the lines that they complete.
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

    /// Returns the last line, if the input did not end with a line feed.
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

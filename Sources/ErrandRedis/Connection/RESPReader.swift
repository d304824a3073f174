import CHiredis

/// Parses a server's bytes into replies, with hiredis' reader and within limits.
///
/// A server is an untrusted input: it may be hostile, or not be Redis at all. An array declares its number of elements
/// in advance, and a text takes memory as it arrives, but may never end.
package struct RESPReader: ~Copyable {
    /// The maximum number of elements of an array. Scripts return a few thousand at most.
    package static let mostElements = 1 << 20
    /// The maximum number of bytes of a reply. The largest, a page of jobs or of claims, has little more than 8 MiB.
    package static let mostBytes = 256 << 20

    private let reader: UnsafeMutablePointer<redisReader>
    private let builder = ReplyBuilder()

    /// Makes a reader without a connection; `nil` if there is no memory for one.
    package init?() {
        guard let made = redisReaderCreate() else { return nil }
        reader = made
        builder.serve(reader)
    }

    deinit { redisReaderFree(reader) }

    /// Adds bytes and returns the replies that are complete now.
    ///
    /// - Throws: ``RESPReaderError`` if the bytes are not in the Redis protocol, or exceed a limit. The reader is
    ///   unusable then.
    package mutating func feed(_ bytes: [UInt8]) throws(RESPReaderError) -> [RESPValue] {
        let status = bytes.withUnsafeBytes {
            redisReaderFeed(reader, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
        }
        guard status == REDIS_OK else { throw RESPReaderError(reader) }
        var values: [RESPValue] = []
        while let value = try builder.next(from: reader) { values.append(value) }
        return values
    }
}

/// The error of a reader.
package struct RESPReaderError: Error, Sendable {
    /// A description of the problem.
    package let reason: String

    init(_ reader: UnsafeMutablePointer<redisReader>) {
        if reader.pointee.err == REDIS_ERR_OOM {
            reason =
                "an array of more than \(RESPReader.mostElements) elements, or this process has no memory left for a reply"
            return
        }
        reason = withUnsafeBytes(of: reader.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

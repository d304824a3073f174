import CHiredis

/// Parses a server's bytes into replies, with hiredis' reader and within limits.
///
/// A server is an untrusted input: it may be hostile, or not be Redis at all. An array declares its number of elements
/// in advance, and hiredis allocates memory for all of them at once. A text takes memory only as it arrives, but may
/// never end.
package struct RESPReader: ~Copyable {
    /// The maximum number of elements of an array. Scripts return a few thousand at most.
    package static let mostElements = 1 << 20
    /// The maximum number of bytes of a reply. The largest, a page of jobs or of claims, has little more than 8 MiB.
    package static let mostBytes = 256 << 20

    private let reader: UnsafeMutablePointer<redisReader>

    /// Makes a reader without a connection; `nil` if there is no memory for one.
    package init?() {
        guard let made = redisReaderCreate() else { return nil }
        reader = made
        Self.limit(reader)
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
        while let value = try Self.next(from: reader) { values.append(value) }
        return values
    }

    /// Returns the next complete reply among the bytes that a reader has received, copied out of hiredis' memory.
    static func next(from reader: UnsafeMutablePointer<redisReader>) throws(RESPReaderError) -> RESPValue? {
        var raw: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &raw) == REDIS_OK else { throw RESPReaderError(reader) }
        guard let raw else { return nil }
        defer { freeReplyObject(raw) }
        return RESPValue(raw.assumingMemoryBound(to: redisReply.self))
    }

    /// Makes a reader refuse arrays of more than ``mostElements``.
    static func limit(_ reader: UnsafeMutablePointer<redisReader>) {
        if let functions = LimitedReplies.functions { reader.pointee.fn = functions }
    }
}

/// The error of a reader.
package struct RESPReaderError: Error, Sendable {
    /// A description of the problem.
    package let reason: String

    fileprivate init(_ reader: UnsafeMutablePointer<redisReader>) {
        if reader.pointee.err == REDIS_ERR_OOM {
            reason = "an array of more than \(RESPReader.mostElements) elements, or no memory for a reply"
            return
        }
        reason = withUnsafeBytes(of: reader.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// hiredis' own functions that make replies, except that they refuse large arrays.
private enum LimitedReplies {
    nonisolated(unsafe) static let functions: UnsafeMutablePointer<redisReplyObjectFunctions>? = {
        guard let hiredis = original else { return nil }
        let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        functions.initialize(to: hiredis.pointee)
        functions.pointee.createArray = { task, count in
            guard count <= RESPReader.mostElements else { return nil }
            return LimitedReplies.original?.pointee.createArray(task, count)
        }
        return functions
    }()

    /// The table is in hiredis itself and outlives the reader that provides its address.
    nonisolated(unsafe) private static let original: UnsafeMutablePointer<redisReplyObjectFunctions>? = {
        guard let reader = redisReaderCreate() else { return nil }
        defer { redisReaderFree(reader) }
        return reader.pointee.fn
    }()
}

extension RESPValue {
    /// Copies a reply out of hiredis' memory.
    fileprivate init(_ reply: UnsafeMutablePointer<redisReply>) {
        let reply = reply.pointee
        switch reply.type {
        case REDIS_REPLY_STRING: self = .bulk(Self.bytes(of: reply))
        case REDIS_REPLY_STATUS: self = .status(String(decoding: Self.bytes(of: reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: self = .error(String(decoding: Self.bytes(of: reply), as: UTF8.self))
        case REDIS_REPLY_INTEGER: self = .integer(reply.integer)
        case REDIS_REPLY_ARRAY: self = .array(Self.elements(of: reply))
        default: self = .null
        }
    }

    private static func bytes(of reply: redisReply) -> [UInt8] {
        guard let text = reply.str else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: text, count: Int(reply.len)))
    }

    private static func elements(of reply: redisReply) -> [RESPValue] {
        guard let first = reply.element else { return [] }
        return UnsafeBufferPointer(start: first, count: Int(reply.elements)).map { $0.map { RESPValue($0) } ?? .null }
    }
}

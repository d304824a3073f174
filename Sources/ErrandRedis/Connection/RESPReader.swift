import CHiredis

/// Turns a server's bytes into replies, with hiredis' reader and within limits.
///
/// A server is an input like any other: it may be hostile, or no Redis at all. An array says how many elements it has
/// before they come, and hiredis makes room for all of them at once; a text has to arrive before it takes memory, but
/// may never end.
package struct RESPReader: ~Copyable {
    /// Most elements of one array. Scripts answer a few thousand at the most.
    package static let mostElements = 1 << 20
    /// Most bytes of one reply. The largest, a page of jobs or of claims, has little more than 8 MiB.
    package static let mostBytes = 256 << 20

    private let reader: UnsafeMutablePointer<redisReader>

    /// Makes a reader of its own, without a connection; `nil` without memory for one.
    package init?() {
        guard let made = redisReaderCreate() else { return nil }
        reader = made
        Self.limit(reader)
    }

    deinit { redisReaderFree(reader) }

    /// Takes bytes in and answers the replies that are complete now.
    ///
    /// - Throws: ``RESPReaderError`` when they are not Redis' protocol, or beyond a limit. The reader is of no more use.
    package mutating func feed(_ bytes: [UInt8]) throws(RESPReaderError) -> [RESPValue] {
        let status = bytes.withUnsafeBytes {
            redisReaderFeed(reader, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
        }
        guard status == REDIS_OK else { throw RESPReaderError(reader) }
        var values: [RESPValue] = []
        while let value = try Self.next(from: reader) { values.append(value) }
        return values
    }

    /// The next complete reply of what a reader was fed, copied out of hiredis' memory.
    static func next(from reader: UnsafeMutablePointer<redisReader>) throws(RESPReaderError) -> RESPValue? {
        var raw: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &raw) == REDIS_OK else { throw RESPReaderError(reader) }
        guard let raw else { return nil }
        defer { freeReplyObject(raw) }
        return RESPValue(raw.assumingMemoryBound(to: redisReply.self))
    }

    /// Has a reader refuse arrays of more than ``mostElements``.
    static func limit(_ reader: UnsafeMutablePointer<redisReader>) {
        if let functions = LimitedReplies.functions { reader.pointee.fn = functions }
    }
}

/// Why a reader stopped.
package struct RESPReaderError: Error, Sendable {
    /// What was wrong, for people.
    package let reason: String

    fileprivate init(_ reader: UnsafeMutablePointer<redisReader>) {
        if reader.pointee.err == REDIS_ERR_OOM {
            reason = "an array of more than \(RESPReader.mostElements) elements, or no memory for a reply"
            return
        }
        reason = withUnsafeBytes(of: reader.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// hiredis' own functions that make replies, except that large arrays are refused.
///
/// The pointers are written once, before any reader uses them, and never change, so threads may share them.
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

    /// The table lies in hiredis itself and outlives the reader that shows where.
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

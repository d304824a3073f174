import CHiredis

/// Builds the values of replies while hiredis' reader parses them.
///
/// hiredis' own objects would have to be copied, and take two or three allocations for each text; here a text takes one.
final class ReplyBuilder {
    /// An array whose elements are still being read.
    private struct Level {
        let count: Int
        var values: [RESPValue] = []
    }

    /// The memory that is reserved for an array before its elements arrive; a server may announce any number of them.
    private static let mostReserved = 4096

    private var levels: [Level] = []
    private var reply: RESPValue?

    /// Makes a reader build its replies here. The builder must outlive the reader.
    func serve(_ reader: UnsafeMutablePointer<redisReader>) {
        reader.pointee.fn = Self.functions
        reader.pointee.privdata = Unmanaged.passUnretained(self).toOpaque()
    }

    /// Returns the next complete reply among the bytes that a reader has received.
    func next(from reader: UnsafeMutablePointer<redisReader>) throws(RESPReaderError) -> RESPValue? {
        var made: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &made) == REDIS_OK else { throw RESPReaderError(reader) }
        defer { if made != nil { reply = nil } }
        return made == nil ? nil : reply
    }

    private func begin(_ count: Int) {
        guard count > 0 else { return add(.array([])) }
        var level = Level(count: count)
        level.values.reserveCapacity(min(count, Self.mostReserved))
        levels.append(level)
    }

    /// Adds a value to the array that is being read, and each array that is complete then to the one around it.
    private func add(_ value: RESPValue) {
        var value = value
        while let innermost = levels.indices.last {
            levels[innermost].values.append(value)
            guard levels[innermost].values.count == levels[innermost].count else { return }
            value = .array(levels.removeLast().values)
        }
        reply = value
    }

    // MARK: hiredis' functions

    private typealias Task = UnsafePointer<redisReadTask>

    /// The table is never freed: readers refer to it.
    nonisolated(unsafe) private static let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
        let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        var table = redisReplyObjectFunctions()
        table.createString = { task, text, count in
            made(task) { $0.add(value(of: task, UnsafeRawBufferPointer(start: text, count: Int(clamping: count)))) }
        }
        table.createArray = { task, count in
            guard count <= RESPReader.mostElements else { return nil }
            return made(task) { $0.begin(Int(clamping: count)) }
        }
        table.createInteger = { task, number in made(task) { $0.add(.integer(number)) } }
        table.createNil = { task in made(task) { $0.add(.null) } }
        table.freeObject = { _ in }
        functions.initialize(to: table)
        return functions
    }()

    /// Calls a reader's builder. Returns what hiredis takes for the object that was made.
    private static func made(_ task: Task?, _ build: (ReplyBuilder) -> Void) -> UnsafeMutableRawPointer? {
        guard let task, let builder = task.pointee.privdata else { return nil }
        Unmanaged<ReplyBuilder>.fromOpaque(builder)._withUnsafeGuaranteedRef(build)
        return UnsafeMutableRawPointer(mutating: task)
    }

    private static func value(of task: Task?, _ text: UnsafeRawBufferPointer) -> RESPValue {
        switch task?.pointee.type {
        case REDIS_REPLY_STATUS: .status(String(decoding: text, as: UTF8.self))
        case REDIS_REPLY_ERROR: .error(String(decoding: text, as: UTF8.self))
        default: .bulk([UInt8](text))
        }
    }
}

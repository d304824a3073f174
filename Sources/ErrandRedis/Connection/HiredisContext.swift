import CHiredis
import Errand
import ErrandText

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A hiredis connection, which one thread owns for its whole life.
///
/// After any error the context is useless: hiredis would return the previous reply for the next command. Callers
/// therefore discard the value and connect again; they never retry on the same context.
struct HiredisContext: ~Copyable {
    private let context: UnsafeMutablePointer<redisContext>
    private let address: RedisAddress
    private let builder = ReplyBuilder()
    private var mark = SentinelPing()

    /// Connects, and sets the timeouts for all system calls.
    init(
        _ address: RedisAddress,
        at place: RedisAddress.ServerPlace,
        connectTimeout: Duration,
        commandTimeout: Duration
    ) throws(BrokerError) {
        context = try Self.connected(to: address, at: place, connectTimeout)
        self.address = address
        builder.serve(context.pointee.reader)
        var isTCP = false
        if case .tcp = place { isTCP = true }
        prepareSocket(commandTimeout, isTCP: isTCP)
    }

    private static func connected(
        to address: RedisAddress,
        at place: RedisAddress.ServerPlace,
        _ timeout: Duration
    ) throws(BrokerError) -> UnsafeMutablePointer<redisContext> {
        _ = sigpipeIgnored
        let made: UnsafeMutablePointer<redisContext>? =
            switch place {
            case .tcp(let place): redisConnectWithTimeout(place.host, Int32(place.port), timeout.timeval)
            case .unix(let path): redisConnectUnixWithTimeout(path, timeout.timeval)
            }
        guard let made else {
            throw BrokerError(.notReachable, "this process has no memory left for a connection to \(address)")
        }
        guard made.pointee.err == 0 else {
            let reason = reason(of: made)
            redisFree(made)
            throw BrokerError(.notReachable, "no connection to \(address): \(reason)")
        }
        return made
    }

    deinit { redisFree(context) }

    /// The socket, for `poll`.
    var descriptor: Int32 { context.pointee.fd }

    /// Whether the server has closed the connection, or has sent something although no reply is expected.
    ///
    /// The check before a write saves callers a lost reply if the server was restarted while the connection was idle.
    var isStale: Bool { isReadable(context.pointee.fd) }

    /// Whether the reader has bytes that belong to no expected reply: the next command would take them for its own
    /// reply.
    var hasUnread: Bool { context.pointee.reader.pointee.pos < context.pointee.reader.pointee.len }

    /// Sends commands and reads a reply for each.
    ///
    /// - Throws: `BrokerError` if the connection broke, or the replies do not match the commands; the commands may or
    ///   may not have been carried out.
    mutating func roundTrip(_ commands: [UInt8], replies: Int) throws(BrokerError) -> [RESPValue] {
        append(commands)
        let mark = appendMark()
        return try self.replies(replies, before: mark)
    }

    /// Sends the first commands of a connection. A server that rejects the client replies to these, and then no more.
    ///
    /// - Throws: `BrokerError` if the connection broke. The next commands detect extra replies.
    mutating func greet(_ commands: [UInt8], replies: Int) throws(BrokerError) -> [RESPValue] {
        append(commands)
        var values: [RESPValue] = []
        while values.count < replies {
            let value = try reply()
            values.append(value)
            if case .error(let text) = value, ServerError(text).refusesEverything { break }
        }
        return values
    }

    /// Appends a sentinel to the output buffer. Its reply proves that the replies before it are complete.
    mutating func appendMark() -> SentinelPing {
        mark.advance()
        append(mark.command)
        return mark
    }

    /// Returns the idle connection for a caller that writes directly, with an unused mark.
    mutating func lend() -> DirectWriter {
        mark.advance()
        return DirectWriter(descriptor: descriptor, mark: mark)
    }

    /// Reads the replies to all commands up to a mark, after writing the rest of the output buffer.
    ///
    /// - Throws: `BrokerError` if the connection broke, or more or fewer replies came.
    mutating func replies(_ count: Int, before mark: SentinelPing) throws(BrokerError) -> [RESPValue] {
        var values: [RESPValue] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try reply()) }
        guard mark.isAnswered(by: try reply()) else { throw unusable("it sent other replies than it was asked for") }
        return values
    }

    /// Appends commands to the output buffer.
    mutating func append(_ commands: [UInt8]) {
        commands.withUnsafeBytes { bytes in
            _ = redisAppendFormattedCommand(context, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count)
        }
    }

    /// Writes the whole output buffer.
    mutating func flush() throws(BrokerError) {
        var done: Int32 = 0
        repeat {
            guard redisBufferWrite(context, &done) == REDIS_OK else { throw broken() }
        } while done == 0
    }

    /// Reads the next reply, after writing the rest of the output buffer.
    ///
    /// - Throws: `BrokerError` if the connection broke, or the reply is larger than any that Errand requests: see
    ///   ``RESPReader``.
    private mutating func reply() throws(BrokerError) -> RESPValue {
        if let value = try nextArrived() { return value }
        try flush()
        var received = 0
        while true {
            let before = context.pointee.reader.pointee.len
            guard redisBufferRead(context) == REDIS_OK else { throw broken() }
            received += max(0, context.pointee.reader.pointee.len - before)
            guard received <= RESPReader.mostBytes else { throw tooLarge() }
            if let value = try nextArrived() { return value }
        }
    }

    /// Reads the bytes that have arrived and returns the complete replies in them, without waiting.
    mutating func arrived() throws(BrokerError) -> [RESPValue] {
        guard redisBufferRead(context) == REDIS_OK else { throw broken() }
        guard context.pointee.reader.pointee.len <= RESPReader.mostBytes else { throw tooLarge() }
        var values: [RESPValue] = []
        while let value = try nextArrived() { values.append(value) }
        return values
    }

    /// Returns the next complete reply among the bytes read, if there is one.
    private func nextArrived() throws(BrokerError) -> RESPValue? {
        do { return try builder.next(from: context.pointee.reader) } catch { throw unusable(error.reason) }
    }

    private func prepareSocket(_ timeout: Duration, isTCP: Bool) {
        redisSetTimeout(context, timeout.timeval)
        _ = fcntl(context.pointee.fd, F_SETFD, FD_CLOEXEC)
        // On a Unix socket hiredis would mark the context as broken.
        guard isTCP else { return }
        redisEnableKeepAlive(context)
        #if os(Linux)
            var patience = UInt32(clamping: timeout.wholeMilliseconds)
            setsockopt(
                context.pointee.fd,
                Int32(IPPROTO_TCP),
                TCP_USER_TIMEOUT,
                &patience,
                socklen_t(MemoryLayout<UInt32>.size)
            )
        #endif
    }

    private func broken() -> BrokerError { unusable(Self.reason(of: context)) }

    private func tooLarge() -> BrokerError {
        unusable("a reply of more than \(RESPReader.mostBytes >> 20) MiB, which no part of Errand asks for")
    }

    private func unusable(_ reason: String) -> BrokerError {
        BrokerError(.outcomeUnknown, "the connection to \(address) broke: \(reason.printable)")
    }

    private static func reason(of context: UnsafeMutablePointer<redisContext>) -> String {
        let number = errno
        let text = withUnsafeBytes(of: context.pointee.errstr) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if context.pointee.err == REDIS_ERR_IO, number == EAGAIN { return "no answer in time" }
        return text.isEmpty ? "closed by the server" : text
    }
}

/// Ignores SIGPIPE: writing to a socket that the server has closed would kill the process, and hiredis has no flag
/// against it. A handler that the program has installed before stays.
private let sigpipeIgnored: Void = {
    var current = sigaction()
    guard sigaction(SIGPIPE, nil, &current) == 0 else { return }
    #if os(Linux)
        let isDefault = current.__sigaction_handler.sa_handler == nil
    #else
        let isDefault = current.__sigaction_u.__sa_handler == nil
    #endif
    if isDefault { signal(SIGPIPE, SIG_IGN) }
}()

extension Duration {

    fileprivate var timeval: timeval {
        let milliseconds = max(1, wholeMilliseconds)
        return makeTimeval(milliseconds)
    }
}

private func makeTimeval(_ milliseconds: Int) -> timeval {
    timeval(tv_sec: numericCast(milliseconds / 1000), tv_usec: numericCast(milliseconds % 1000 * 1000))
}

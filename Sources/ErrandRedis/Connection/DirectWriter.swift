#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A connection on which nothing is under way, lent to the next caller: one who writes there himself need not wait until the
/// connection's thread has woken up, which takes longer than the write.
///
/// It is lent under the mailbox's lock and taken back before the thread touches the connection again, so that nobody else
/// writes meanwhile and the socket is not closed under it.
struct DirectWriter: Sendable {
    /// The socket.
    let descriptor: Int32
    /// The mark that ends what is written.
    let mark: SentinelPing

    /// More than this goes to the connection's thread as it is: the others would wait for the lock while it is copied.
    private static let mostBytes = 64 * 1024

    /// A request whose first bytes are on their way.
    struct Begun: Sendable {
        /// The mark behind the request.
        let mark: SentinelPing
        /// What the socket did not take yet.
        let rest: [UInt8]
    }

    /// Writes as much of a request and its mark as the socket takes at once; `nil` when it takes nothing, or was closed.
    func begin(_ request: [UInt8]) -> Begun? {
        guard request.count <= Self.mostBytes, !isReadable(descriptor) else { return nil }
        let bytes = request + mark.command
        let written = send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard written > 0 else { return nil }
        return Begun(mark: mark, rest: Array(bytes.dropFirst(written)))
    }
}

/// Whether a socket has something to read, or was closed.
func isReadable(_ descriptor: Int32) -> Bool {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&poller, 1, 0) != 0
}

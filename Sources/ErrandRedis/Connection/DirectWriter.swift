#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An idle connection, lent to the next caller. A caller that writes directly need not wait until the connection's
/// thread has woken up, which takes longer than the write.
///
/// The connection is lent under the lock of the connection's state and withdrawn before its thread touches it again, so that no other
/// thread writes to the socket or closes it meanwhile.
struct DirectWriter: Sendable {
    /// The socket.
    let descriptor: Int32
    /// The mark that ends the written bytes.
    let mark: SentinelPing

    /// A larger request goes to the connection's thread: other callers would wait for the lock while it is copied.
    private static let mostBytes = 64 * 1024

    /// A request whose first bytes were sent.
    struct Begun: Sendable {
        /// The mark after the request.
        let mark: SentinelPing
        /// The bytes that the socket has not taken yet.
        let rest: [UInt8]
    }

    /// Writes as much of a request and its mark as the socket takes at once; `nil` if it takes nothing, or was closed.
    func begin(_ request: [UInt8]) -> Begun? {
        guard request.count <= Self.mostBytes, !isReadable(descriptor) else { return nil }
        let bytes = request + mark.command
        let written = send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard written > 0 else { return nil }
        return Begun(mark: mark, rest: Array(bytes.dropFirst(written)))
    }
}

/// Whether a socket is readable or was closed.
func isReadable(_ descriptor: Int32) -> Bool {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&poller, 1, 0) != 0
}

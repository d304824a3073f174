#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Output that tolerates a reader that has gone, because the demo must clean up in any case.
enum RawOutput {
    /// Ignores SIGPIPE, so that a closed pipe is an error of the write and does not end the process.
    static func outliveReaders() { signal(SIGPIPE, SIG_IGN) }

    /// The number of bytes that a writable pipe accepts without blocking.
    private static let portion = 512

    /// Writes a text and returns whether all of it was written. A cancelled task waits for no reader.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            guard awaitRoom(in: descriptor) else { return false }
            let count = rest.prefix(Self.portion).withUnsafeBytes { Self.write($0, descriptor) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func awaitRoom(in descriptor: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while poll(&polled, 1, 100) < 1 {
            if Task.isCancelled { return false }
        }
        return true
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Darwin)
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}

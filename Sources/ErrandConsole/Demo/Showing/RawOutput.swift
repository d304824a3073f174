#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Output whose reader may be gone: the demo has to tidy up all the same.
enum RawOutput {
    /// From now on a reader that is gone is an error of the write, not the end of the process.
    static func outliveReaders() { signal(SIGPIPE, SIG_IGN) }

    /// As much goes into a pipe that has room at all, without waiting.
    private static let portion = 512

    /// Writes a text. Answers whether all of it could be written: in a task that was cancelled, no reader is waited for.
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

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Standard output and standard error as the system knows them: written at once, without a buffer in between.
struct OutputDescriptor: Sendable {
    static let standardOutput = OutputDescriptor(number: STDOUT_FILENO)
    static let standardError = OutputDescriptor(number: STDERR_FILENO)

    let number: Int32

    /// Writes all bytes. When nobody reads standard output any more, the process ends as any other program in a pipe
    /// does.
    func write(_ bytes: [UInt8]) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { systemWrite(number, UnsafeRawBufferPointer(rebasing: $0[written...])) }
            if count > 0 {
                written += count
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                awaitRoom()
            } else if errno != EINTR {
                if errno == EPIPE, number == STDOUT_FILENO { endByBrokenPipe() }
                return
            }
        }
    }

    /// Somebody set the descriptor to non-blocking; it is shared with other processes, so it stays that way.
    private func awaitRoom() {
        var polled = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        _ = poll(&polled, 1, 1000)
    }

    /// The connection to the broker ignores SIGPIPE for the whole process; a closed output is another matter.
    private func endByBrokenPipe() {
        signal(SIGPIPE, SIG_DFL)
        _ = raise(SIGPIPE)
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

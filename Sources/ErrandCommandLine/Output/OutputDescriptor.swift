import ArgumentParser
import ErrandText

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Standard output and standard error as file descriptors: unbuffered.
struct OutputDescriptor: Sendable {
    static let standardOutput = OutputDescriptor(number: STDOUT_FILENO)
    static let standardError = OutputDescriptor(number: STDERR_FILENO)

    let number: Int32

    /// Writes all bytes, or as many as possible.
    ///
    /// - Returns: 0, or the error number of the failed write.
    func write(_ bytes: [UInt8]) -> Int32 {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { systemWrite(number, UnsafeRawBufferPointer(rebasing: $0[written...])) }
            if count > 0 {
                written += count
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                awaitRoom()
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// Waits until the descriptor is writable: another process that shares it may have made it non-blocking, so it
    /// stays that way.
    private func awaitRoom() {
        var polled = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        _ = poll(&polled, 1, 1000)
    }

    /// Ends the process because its output cannot be written. If the reader of a pipe has closed it, SIGPIPE ends the
    /// process as it ends other programs; the connection to the broker ignores that signal for the whole process.
    /// Otherwise the process exits with an error, because a reader would take a part for the whole.
    static func end(because error: Int32) -> Never {
        if error == EPIPE {
            signal(SIGPIPE, SIG_DFL)
            _ = raise(SIGPIPE)
        }
        StandardError.write(
            "error: cannot write the output: \(FileProblem.words(for: error)). The output is incomplete"
        )
        exit(ExitStatus.notWritten.rawValue)
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

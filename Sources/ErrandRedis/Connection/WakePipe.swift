import Errand

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Lets a thread wait for a time, a descriptor or a wake-up, whichever comes first.
///
/// `poll` uses the monotonic clock; a semaphore's timeout would follow changes of the wall clock. Several wake-ups
/// before a wait count as one.
final class WakePipe: Sendable {
    enum Woken { case woken, readable, silent }

    private let reading: Int32
    private let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Ends the current wait, or the next one.
    func wake() {
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)
    }

    /// Waits for a wake-up, a readable descriptor, or the end of the time.
    @discardableResult
    func wait(milliseconds: Int, or descriptor: Int32 = -1) -> Woken {
        var polled = [
            pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        var left = Int32(clamping: max(0, milliseconds))
        // A signal to this thread ends the call, and no wait.
        while poll(&polled, 2, left) < 0, errno == EINTR {
            left = Int32(clamping: max(0, (end - .now).wholeMilliseconds))
        }
        if polled[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 512)
            while read(reading, &bytes, bytes.count) == bytes.count {}
            return .woken
        }
        return polled[1].revents != 0 ? .readable : .silent
    }
}

package import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A lock for starting processes and making pipes.
///
/// A child inherits every descriptor that is opened after its list of descriptors to close was made. If it has a copy
/// of another child's pipe, a reader of that pipe waits until both children have exited.
private let starting = Mutex<Void>(())

/// Runs a closure while no other test starts a process, so that none inherits the descriptors that it opens.
package func withoutOtherStarts<Value>(_ body: () throws -> Value) throws -> Value {
    try starting.withLock { _ in try body() }
}

extension Process {
    /// Starts the process with no signal blocked, and never two at once.
    ///
    /// A process inherits the signal mask of the thread that starts it, and Dispatch's threads block nearly all
    /// signals: a program started from one would not receive SIGTERM.
    ///
    /// With more than about 1,350 open descriptors `run()` may crash on Linux (Foundation 6.3): it copies directory
    /// entries of 280 bytes from a buffer that is shorter. `scripts/run-tests` prevents so many tests from running at
    /// once.
    package func start() throws {
        try starting.withLock { _ in
            var none = sigset_t()
            var before = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            try run()
        }
    }
}

extension Pipe {
    /// Makes a pipe that only the child inherits to which it is passed.
    package static func forOneChild() -> Pipe {
        starting.withLock { _ in
            let pipe = Pipe()
            for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
            return pipe
        }
    }
}

/// Sends a child a signal. After SIGSTOP, waits until all its threads have stopped or it has exited: only the thread that
/// receives the signal stops the others, and on a busy machine those may run on meanwhile.
package func send(_ signal: Int32, toChild pid: Int32) {
    guard kill(pid, signal) == 0, signal == SIGSTOP else { return }
    var info = siginfo_t()
    while waitid(P_PID, id_t(pid), &info, WSTOPPED | WEXITED | WNOWAIT) != 0, errno == EINTR {}
}

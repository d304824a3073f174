package import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Held while a process is started, and while a pipe is made.
///
/// A child inherits every descriptor that was made after its list of what to close: one with a copy of another child's
/// pipe keeps it open, and whoever reads that to its end waits until both are gone.
private let starting = Mutex<Void>(())

/// Does something while no other test starts a process: none inherits what it opens.
package func withoutOtherStarts<Value>(_ body: () throws -> Value) throws -> Value {
    try starting.withLock { _ in try body() }
}

extension Process {
    /// Starts the process with no signal blocked, and never two at once.
    ///
    /// A process inherits the mask of the thread that starts it, and dispatch's threads block nearly all signals: a
    /// program that is started from one would not hear a SIGTERM.
    ///
    /// With more than about 1,350 open descriptors `run()` may crash on Linux (Foundation 6.3): it copies directory entries of
    /// 280 bytes out of a buffer that ends sooner. `scripts/run-tests` keeps so many tests from running at once.
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
    /// A pipe that only the child gets that it is given to.
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

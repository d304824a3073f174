import Errand
import ErrandText
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An advisory lock on a file, which the system releases when the process ends. Children do not inherit it.
final class FileLock: Sendable {
    enum Kind { case shared, exclusive }

    private let path: String
    private let descriptor: Mutex<Int32>

    init(_ path: String) throws(BrokerError) {
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else {
            throw BrokerError(.notReachable, "cannot open \(path): \(FileProblem.words(for: errno))")
        }
        self.path = path
        descriptor = Mutex(opened)
    }

    deinit { unlock() }

    /// Waits for the lock.
    func lock(_ kind: Kind) throws(BrokerError) {
        let operation = kind == .shared ? LOCK_SH : LOCK_EX
        let file = descriptor.withLock { $0 }
        while flock(file, operation) != 0 {
            guard errno == EINTR else {
                throw BrokerError(.notReachable, "cannot lock \(path): \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Whether any process holds the lock. Holds it for a moment.
    static func isHeld(_ path: String) throws(BrokerError) -> Bool {
        let lock = try FileLock(path)
        defer { lock.unlock() }
        return lock.descriptor.withLock { flock($0, LOCK_EX | LOCK_NB) } != 0
    }

    /// Releases the lock permanently.
    func unlock() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }
}

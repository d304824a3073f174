import Errand
import ErrandCommandLine
import ErrandRedis
import ErrandText
import Foundation
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A command's own embedded broker in a temporary directory, which is removed with it unless the data is kept.
struct TemporaryBroker: Sendable {
    let directory: String
    let broker: RedisBroker
    private let embedded: EmbeddedBroker

    /// Makes the directory and starts the server.
    ///
    /// - Parameter confirmsWrites: See `ConnectionOptions`.
    static func open(as name: String, confirmsWrites: Bool? = nil, logger: Logger) throws -> TemporaryBroker {
        let directory = try TemporaryDirectory.make(name)
        do {
            let embedded = try EmbeddedBroker.join(directory)
            let options = ConnectionOptions(clientName: name, confirmsWrites: confirmsWrites)
            let broker = RedisBroker(embedded.address, options: options, logger: logger)
            return TemporaryBroker(directory: directory, broker: broker, embedded: embedded)
        } catch {
            remove(directory)
            throw error
        }
    }

    /// Disconnects from the server, waits until it and its guardian have exited, and removes the directory unless the
    /// data is kept.
    ///
    /// Call it after all other users have disconnected. It blocks, so that it also works in a cancelled task.
    func close(keepingData: Bool) {
        let end = ServerEnd(of: directory)
        broker.close()
        embedded.leave()
        end.wait()
        if !keepingData { Self.remove(directory) }
    }

    private static func remove(_ directory: String) {
        do { try FileManager.default.removeItem(atPath: directory) } catch {
            StandardError.write("cannot remove \(directory): \(FileProblem.words(for: error))")
        }
    }
}

/// The end of an embedded server without users.
///
/// Its guardian holds the users' lock from the moment the last user has left until the server has exited. A free lock
/// may mean that the guardian has not taken it yet, so the server's socket must be gone first.
private struct ServerEnd {
    private let lockPath: String
    private let socketPath: String

    init(of directory: String) {
        lockPath = directory + "/users.lock"
        socketPath = directory + "/redis.sock"
    }

    func wait() {
        // A server removes its socket when it exits.
        Patience.wait(atMost: 10) { access(socketPath, F_OK) != 0 }
        let lock = open(lockPath, O_RDWR | O_CLOEXEC)
        guard lock >= 0 else { return }
        // The guardian releases the lock after the server has exited.
        Patience.wait(atMost: 5) { flock(lock, LOCK_EX | LOCK_NB) == 0 }
        close(lock)
    }
}

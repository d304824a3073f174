import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A command's own embedded broker in a directory of its own, which goes with it unless it is to be kept.
struct TemporaryBroker: Sendable {
    let directory: String
    let broker: RedisBroker
    private let embedded: EmbeddedBroker

    /// Makes the directory and starts the server.
    ///
    /// - Parameter confirmsWrites: see `ConnectionOptions`.
    static func open(as name: String, confirmsWrites: Bool? = nil, logger: Logger) throws -> TemporaryBroker {
        let directory = try makeDirectory(name)
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

    /// Leaves the server, waits until it is gone with its guardian, and removes the directory unless its data is to
    /// stay.
    ///
    /// Call it when every other user has left. It blocks, so that it does its work in a cancelled task as well.
    func close(keepingData: Bool) {
        let end = ServerEnd(of: directory)
        broker.close()
        embedded.leave()
        end.wait()
        if !keepingData { Self.remove(directory) }
    }

    /// In the usual place for temporary files, unless its path is too long for the broker's socket.
    private static func makeDirectory(_ name: String) throws -> String {
        let usual = FileManager.default.temporaryDirectory.standardizedFileURL.path
        let parent = usual.utf8.count <= 70 ? usual : "/tmp"
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(
                "cannot make a directory in \(parent): \(reason); set TMPDIR to one that can be written",
                ExitStatus.unavailable
            )
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func remove(_ directory: String) {
        do { try FileManager.default.removeItem(atPath: directory) } catch {
            StandardError.write("cannot remove \(directory): \(error.localizedDescription)")
        }
    }
}

/// Waits until an embedded server that nobody uses any more has ended.
///
/// Its guardian holds the users' lock from the moment the last user has left until the server is gone. To find that
/// lock free may mean that the guardian has not taken it yet; so the server's socket must be gone first.
private struct ServerEnd {
    private let lockPath: String
    private let socketPath: String

    init(of directory: String) {
        lockPath = directory + "/users.lock"
        socketPath = directory + "/redis.sock"
    }

    func wait() {
        // A server removes its socket when it ends.
        Patience.wait(atMost: 10) { access(socketPath, F_OK) != 0 }
        let lock = open(lockPath, O_RDWR | O_CLOEXEC)
        guard lock >= 0 else { return }
        // And its guardian lets go when it has seen the server's end.
        Patience.wait(atMost: 5) { flock(lock, LOCK_EX | LOCK_NB) == 0 }
        close(lock)
    }
}

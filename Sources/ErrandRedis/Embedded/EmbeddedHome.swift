import Errand
import ErrandText
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The files of an embedded broker.
struct EmbeddedHome {
    let directory: String
    let socket: String
    var startLock: String { directory + "/start.lock" }
    var usersLock: String { directory + "/users.lock" }
    /// The server holds this lock while it lives.
    var serverLock: String { directory + "/server.lock" }
    var log: String { directory + "/redis.log" }
    var configuration: String { directory + "/redis.conf" }

    /// Creates the directory if it is missing.
    init(_ path: String) throws(BrokerError) {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        try Self.makePrivate(absolute)
        directory = absolute
        socket = try Self.socketPath(for: absolute)
    }

    /// Whether the disk has no room left for this user.
    var isFull: Bool {
        var disk = statvfs()
        return statvfs(directory, &disk) == 0 && disk.f_bavail == 0
    }

    /// Returns the path of the socket: in the directory, or, if that path is too long for a socket, in a short one that
    /// only this user can write to.
    private static func socketPath(for directory: String) throws(BrokerError) -> String {
        let usual = directory + "/redis.sock"
        if usual.utf8.count <= 107 { return usual }
        let short = "/tmp/errand-\(getuid())"
        try makePrivate(short)
        let digest = SHA256.hash(directory.utf8).prefix(8).map { String($0, radix: 16) }.joined()
        return short + "/" + digest + ".sock"
    }

    private static func makePrivate(_ path: String) throws(BrokerError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw BrokerError(
                .notReachable,
                "cannot make the embedded broker's directory \(path): \(FileProblem.words(for: error)); "
                    + "name another one with --embedded or ERRAND_HOME"
            )
        }
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == getuid() else {
            throw BrokerError(
                .notPermitted,
                "the embedded broker's directory \(path) must be a directory of this user's own; name another one with --embedded "
                    + "or ERRAND_HOME"
            )
        }
        guard facts.st_mode & 0o022 == 0 else {
            throw BrokerError(
                .notPermitted,
                "the embedded broker's directory \(path) can be written by others; chmod 700 it"
            )
        }
    }
}

import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A real redis-server for one test, on a Unix socket and optionally on a free TCP port. It is stopped by its pid.
package final class RedisServer: Sendable {
    /// The path of the socket.
    package var socket: String { directory + "/s" }
    /// The socket's URL, with the user whose permissions `deploy/redis/errand.acl` lists.
    package var url: String { "unix://\(credentials)\(socket)" }
    /// The URL as programs print it, without user and password.
    package var shownURL: String { "unix://\(socket)" }
    /// The credentials `user:password@` of Errand's user; empty on a server without that user.
    package var credentials: String { isRestricted ? "errand:\(Self.password)@" : "" }
    /// The password of Errand's user.
    package static let password = "s3cret-of-the-tests"
    /// The TCP port; 0 if there is none.
    package let port: Int
    /// The URL of the TCP port.
    package var tcpURL: String { "redis://\(credentials)127.0.0.1:\(port)" }
    /// The directory of the server's data.
    package let directory: String
    private let prefix: [String]
    private let arguments: [String]
    private let isRestricted: Bool
    private let process = Mutex<Process?>(nil)

    /// Starts a server.
    ///
    /// Clients of ``url`` and ``tcpURL`` are Errand's user, with only the permissions that it needs; ``run(_:)`` uses
    /// the operator with all permissions.
    ///
    /// - Parameters:
    ///   - durable: Whether it keeps an append-only file that is synced with every write.
    ///   - prefix: Words before the command, as `env` accepts them: `NAME=value`, or `ip netns exec …`.
    ///   - restricted: Whether it has Errand's user. A server that requires a password of all users has not.
    ///   - rules: Additional rules of Errand's user, such as `-hget`.
    package init(
        tcp: Bool = false,
        durable: Bool = false,
        prefix: [String] = [],
        restricted: Bool = true,
        rules: String = "",
        _ more: [String] = []
    ) throws {
        self.prefix = prefix
        isRestricted = restricted && !more.contains("--requirepass")
        directory = NSTemporaryDirectory() + "er-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        port = tcp ? try FreePorts.next() : 0
        arguments =
            [
                "--port", String(port), "--bind", "127.0.0.1", "--unixsocket", directory + "/s", "--dir", directory,
                "--save", "", "--logfile", directory + "/log",
            ]
            + (durable ? ["--appendonly", "yes", "--appendfsync", "always"] : []) + more
            + (isRestricted ? ["--aclfile", directory + "/users.acl"] : [])
        if isRestricted { try Self.writeUsers(to: directory + "/users.acl", rules) }
        try start()
    }

    deinit {
        kill(SIGKILL)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The process id; 0 before the first start.
    package var pid: Int32 { process.withLock { $0?.processIdentifier ?? 0 } }
    /// Whether the process is running.
    package var isRunning: Bool { process.withLock { $0?.isRunning ?? false } }

    /// Starts the server again after it was killed, and waits until it replies.
    ///
    /// - Parameters:
    ///   - mayLoad: Whether a reply that it is still loading its data is enough.
    ///   - limit: How long to wait.
    package func start(mayLoad: Bool = false, within limit: Duration = .seconds(20)) throws {
        unlink(socket)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = prefix + ["redis-server"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        self.process.withLock { $0 = process }
        TestReaper.shared.watch(process.processIdentifier, directory)
        try poll("redis-server starts", within: limit, pause: 5000) {
            guard process.isRunning else { throw TestFailure("redis-server did not start: \(lastWords)") }
            return isAnswering(mayLoad: mayLoad)
        }
    }

    /// The last lines of the server's log.
    private var lastWords: String {
        let log = try? String(contentsOfFile: directory + "/log", encoding: .utf8)
        return log?.split(separator: "\n").suffix(3).joined(separator: "; ") ?? "it has written no log"
    }

    private static func writeUsers(to path: String, _ rules: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let shipped = try String(contentsOf: root.appending(path: "deploy/redis/errand.acl"), encoding: .utf8)
        guard let errand = shipped.split(separator: "\n").first(where: { $0.hasPrefix("user errand ") }) else {
            throw TestFailure("deploy/redis/errand.acl has no user errand")
        }
        // The tests' operator is the default user, which the file disables.
        let users = "user default on nopass ~* &* +@all\n\(errand) >\(password) \(rules)\n"
        try users.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Sends the server a signal; after SIGKILL or SIGTERM, waits until it has exited.
    package func kill(_ signal: Int32) {
        guard let process = process.withLock({ $0 }), process.isRunning else { return }
        send(signal, toChild: process.processIdentifier)
        if signal == SIGKILL || signal == SIGTERM { Self.awaitEnd(of: process.processIdentifier) }
    }

    /// Returns the number of replicas that receive each write now. A replica that says that its link is up may only have
    /// the data of a moment ago: the server goes on when the replica has confirmed those, once a second.
    static func followers(in replication: String) -> Int {
        replication.components(separatedBy: ",state=online,").count - 1
    }

    /// Waits with `waitid`. `waitUntilExit` waits for the end of a socket of which any other child may have a copy.
    private static func awaitEnd(of pid: pid_t) {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    /// Returns whether the server replies at all, even if it only asks for a password.
    private func isAnswering(mayLoad: Bool) -> Bool {
        guard let answer = try? run("PING") else { return false }
        return answer == "PONG" || answer.hasPrefix("NOAUTH") || (mayLoad && answer.hasPrefix("LOADING"))
    }

    /// Runs a command and returns the reply as text, with the elements of an array on separate lines.
    @discardableResult
    package func run(_ words: String...) throws -> String { try run(words) }

    /// Runs a command and returns the reply as text, with the elements of an array on separate lines.
    @discardableResult
    package func run(_ words: [String]) throws -> String { try runTogether([words])[0] }

    /// Runs commands on one connection and returns their replies as text.
    package func runTogether(_ commands: [[String]]) throws -> [String] { try Self.ask(socket, commands) }

    /// Runs commands on one connection to a socket and returns their replies as text.
    package static func ask(_ socket: String, _ commands: [[String]]) throws -> [String] {
        let file = socketOf(AF_UNIX)
        defer { close(file) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard connected else { throw TestFailure("no connection to \(socket)") }
        let text = commands.map { words in
            "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
        }.joined()
        guard write(file, text, text.utf8.count) == text.utf8.count else { throw TestFailure("nothing written") }
        var reader = ReplyReader(file: file)
        return try commands.map { _ in try reader.reply() }
    }
}

/// Makes a stream socket.
func socketOf(_ family: Int32) -> Int32 {
    #if canImport(Glibc)
        socket(family, Int32(SOCK_STREAM.rawValue), 0)
    #else
        socket(family, SOCK_STREAM, 0)
    #endif
}

/// A failure of the tests' own code.
package struct TestFailure: Error, CustomStringConvertible {
    /// The failure.
    package let description: String
    /// Whether it is a timeout, which a busy machine may cause.
    package let isOfTime: Bool
    /// Makes a failure.
    package init(_ description: String, isOfTime: Bool = false) {
        self.description = description
        self.isOfTime = isOfTime
    }
}

/// A reader of a socket's replies as text.
private struct ReplyReader {
    let file: Int32
    var buffer: [UInt8] = []

    mutating func reply() throws -> String {
        let line = String(decoding: try take(until: 10).dropLast(2), as: UTF8.self)
        let rest = String(line.dropFirst())
        switch line.first {
        case "$":
            guard let count = Int(rest), count >= 0 else { return "" }
            return String(decoding: try take(count + 2).dropLast(2), as: UTF8.self)
        case "*": return try (0..<max(0, Int(rest) ?? 0)).map { _ in try reply() }.joined(separator: "\n")
        default: return rest
        }
    }

    private mutating func take(until end: UInt8) throws -> [UInt8] {
        while !buffer.contains(end) { try fill() }
        return try take((buffer.firstIndex(of: end) ?? 0) + 1)
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { try fill() }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    private mutating func fill() throws {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { throw TestFailure("the server closed the connection") }
        buffer += bytes.prefix(count)
    }
}

import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A real redis-server for one test, on a Unix socket and, when asked, a TCP port of its own choosing; ended by its pid.
package final class RedisServer: Sendable {
    /// The socket's path.
    package var socket: String { directory + "/s" }
    /// The socket as a URL.
    package var url: String { "unix://\(socket)" }
    /// The TCP port; 0 without one.
    package let port: Int
    /// The TCP address as a URL.
    package var tcpURL: String { "redis://127.0.0.1:\(port)" }
    /// Where its data is.
    package let directory: String
    private let arguments: [String]
    private let process = Mutex<Process?>(nil)

    /// Starts a server.
    ///
    /// - Parameter durable: whether it keeps an append-only file, synced with every write.
    package init(tcp: Bool = false, durable: Bool = false, _ more: [String] = []) throws {
        directory = NSTemporaryDirectory() + "/er-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        port = tcp ? try Self.freePort() : 0
        arguments =
            ["--port", String(port), "--bind", "127.0.0.1", "--unixsocket", directory + "/s", "--dir", directory, "--save", ""]
            + (durable ? ["--appendonly", "yes", "--appendfsync", "always"] : []) + more
        try start()
    }

    deinit {
        kill(SIGKILL)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts it again after it was killed, and waits until it answers.
    package func start() throws {
        unlink(socket)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["redis-server"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process.withLock { $0 = process }
        let deadline = ContinuousClock.now + .seconds(20)
        while (try? run("PING")) != "PONG" {
            guard ContinuousClock.now < deadline, process.isRunning else { throw TestFailure("redis-server did not start") }
            usleep(5000)
        }
    }

    /// Sends it a signal; after SIGKILL waits until it is gone.
    package func kill(_ signal: Int32) {
        guard let process = process.withLock({ $0 }), process.isRunning else { return }
        _ = Glibc.kill(process.processIdentifier, signal)
        if signal == SIGKILL || signal == SIGTERM { process.waitUntilExit() }
    }

    /// What redis-cli answers to a command.
    @discardableResult
    package func run(_ words: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["redis-cli", "-s", socket] + words
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// A port that nobody listens on at the moment.
    package static func freePort() throws -> Int {
        let file = socketOf(AF_INET)
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, length) == 0 && getsockname(file, $0, &length) == 0 }
        }
        guard bound else { throw TestFailure("no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

/// A stream socket.
func socketOf(_ family: Int32) -> Int32 {
    #if canImport(Glibc)
    socket(family, Int32(SOCK_STREAM.rawValue), 0)
    #else
    socket(family, SOCK_STREAM, 0)
    #endif
}

/// A failure of the test's own machinery.
package struct TestFailure: Error, CustomStringConvertible {
    /// What went wrong.
    package let description: String
    /// Makes a failure.
    package init(_ description: String) { self.description = description }
}

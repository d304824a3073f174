import Errand
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ErrandRedis

#if canImport(Glibc)
    import Glibc
#endif

/// Callers that write to an idle connection directly.
@Suite(.timeLimit(.minutes(6))) struct DirectWriterTests {
    private let server: RedisServer
    private let connection: Connection

    init() throws {
        server = try RedisServer(restricted: false)
        connection = Connection(
            try RedisAddress(url: server.url),
            ConnectionOptions(patience: .seconds(10)),
            logger: Logger(label: "idle line")
        )
    }

    /// Connects, and waits until the connection is lent to the next caller.
    private func awaitIdle(_ other: Connection? = nil) async throws {
        let connection = other ?? connection
        _ = try await connection.send(.command("PING"))
        while !connection.isLent { await Task.yield() }
    }

    /// Sends a command on this thread, and returns a stream with its reply.
    private func begin(
        _ command: CommandWriter,
        on other: Connection? = nil
    ) -> AsyncStream<Result<[RESPValue], BrokerError>> {
        AsyncStream { continuation in
            (other ?? connection).send(command) {
                continuation.yield($0)
                continuation.finish()
            }
        }
    }

    private func answer(_ replies: AsyncStream<Result<[RESPValue], BrokerError>>) async throws -> String? {
        for await reply in replies { return try reply.get().first?.text }
        return nil
    }

    @Test func `a call in progress gets its reply although the connection is closed`() async throws {
        try await awaitIdle()
        let begun = begin(.command("ECHO", "begun"))
        let waiting = begin(.command("ECHO", "waiting"))
        connection.close()
        #expect(try await answer(begun) == "begun")
        // The thread may have sent it together with the first one.
        do { #expect(try await answer(waiting) == "waiting") } catch let error as BrokerError {
            #expect(error.code == .closed)
        }
    }

    @Test func `the caller that gets the last reply may write at once`() async throws {
        defer { connection.close() }
        let lent = AsyncStream<Bool> { [connection] continuation in
            connection.send(.command("PING")) { _ in
                // Still on the connection's thread.
                continuation.yield(connection.isLent)
                connection.send(.command("ECHO", "next")) {
                    continuation.yield((try? $0.get().first?.text) == "next")
                    continuation.finish()
                }
            }
        }
        var results: [Bool] = []
        for await one in lent { results.append(one) }
        #expect(results == [true, true])
    }

    @Test func `requests behind a begun one get their own answers`() async throws {
        defer { connection.close() }
        for round in 0..<50 {
            try await awaitIdle()
            let replies = (0..<70).map { begin(.command("ECHO", "\(round)-\($0)")) }
            for (number, reply) in replies.enumerated() {
                #expect(try await answer(reply) == "\(round)-\(number)")
            }
        }
    }

    @Test func `bytes that the socket does not accept at once follow`() async throws {
        defer { connection.close() }
        try await awaitIdle()
        let socket = try #require(Self.socket(to: server.socket))
        var size: Int32 = 4096
        #expect(setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size)) == 0)
        send(SIGSTOP, toChild: server.pid)
        let text = String(repeating: "long ", count: 10_000)
        let long = begin(.command("ECHO", text))
        let next = begin(.command("ECHO", "next"))
        kill(server.pid, SIGCONT)
        #expect(try await answer(long) == text)
        #expect(try await answer(next) == "next")
    }

    @Test func `a server that was restarted is noticed before anything is written`() async throws {
        // Over TCP, a write to a closed connection succeeds.
        let server = try RedisServer(tcp: true, restricted: false)
        let connection = Connection(
            try RedisAddress(url: server.tcpURL),
            ConnectionOptions(patience: .seconds(10)),
            logger: Logger(label: "idle line")
        )
        defer { connection.close() }
        for round in 0..<5 {
            try await awaitIdle(connection)
            server.kill(SIGKILL)
            try server.start()
            let reply = begin(.command("ECHO", "\(round)"), on: connection)
            #expect(try await answer(reply) == "\(round)")
        }
    }

    @Test func `a writer reports what is left to be written`() throws {
        connection.close()
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let request = [UInt8](repeating: UInt8(ascii: "x"), count: 60_000)
        let line = DirectWriter(descriptor: ends[0], mark: SentinelPing())
        var size: Int32 = 4096
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        let begun = try #require(line.begin(request))
        var arrived = [UInt8](repeating: 0, count: 100_000)
        let count = recv(ends[1], &arrived, arrived.count, Int32(MSG_DONTWAIT))
        #expect(!begun.rest.isEmpty && count > 0)
        #expect(arrived.prefix(max(0, count)) + begun.rest == request + line.mark.command)
        // Large requests and replies are left to the connection's thread.
        #expect(line.begin([UInt8](repeating: 0, count: 65_537)) == nil)
        #expect(send(ends[1], "?", 1, 0) == 1)
        #expect(line.begin([1]) == nil)
    }

    /// Returns this process's socket that is connected to a path.
    private static func socket(to path: String) -> Int32? {
        (0..<1024).first { descriptor in
            var address = sockaddr_un()
            var length = socklen_t(MemoryLayout<sockaddr_un>.size)
            let isConnected = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
            }
            guard isConnected, address.sun_family == sa_family_t(AF_UNIX) else { return false }
            return withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                == path
        }
    }
}

import Errand
import Foundation
import TestSupport
import Testing

@testable import ErrandRedis

struct EmbeddedBrokerTests {
    func makeDirectory() -> String {
        NSTemporaryDirectory() + "ee-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
    }

    @Test func theFirstStartsItOthersJoinAndTheLastEndsIt() async throws {
        let directory = makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let joined = try await withThrowingTaskGroup(of: EmbeddedBroker.self) { group in
            for _ in 0..<4 { group.addTask { try await Self.onAThread { try EmbeddedBroker.join(directory) } } }
            return try await group.reduce(into: [EmbeddedBroker]()) { $0.append($1) }
        }
        let address = joined[0].address
        let servers = try serverCount(directory)
        #expect(servers == 1)
        for broker in joined.dropLast() { broker.leave() }
        #expect(EmbeddedBroker.isAnswering(address))
        joined.last?.leave()
        try await Self.onAThread { try Self.awaitEnd(of: address) }
    }

    @Test func aClientThatComesWhileItEndsGetsANewOneWithTheSameData() async throws {
        let directory = makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for round in 0..<5 {
            let embedded = try await Self.onAThread { try EmbeddedBroker.join(directory) }
            var context = try HiredisContext.greeted(embedded.address, ConnectionOptions())
            let replies = try context.roundTrip(
                CommandWriter.command("RPUSH", "rounds", "\(round)").bytes
                    + CommandWriter.command("LLEN", "rounds").bytes,
                replies: 2
            )
            #expect(replies == [.integer(Int64(round + 1)), .integer(Int64(round + 1))])
            embedded.leave()
        }
    }

    @Test func aLongDirectoryStillHasASocket() async throws {
        let top = makeDirectory()
        let directory = top + String(repeating: "/long-directory-name", count: 8)
        defer { try? FileManager.default.removeItem(atPath: top) }
        let embedded = try await Self.onAThread { try EmbeddedBroker.join(directory) }
        #expect(EmbeddedBroker.isAnswering(embedded.address))
        embedded.leave()
        try await Self.onAThread { try Self.awaitEnd(of: embedded.address) }
    }

    @Test func descriptorsOfItsStarterAreNotKeptOpen() async throws {
        let directory = makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (embedded, end) = try await Self.onAThread {
            try withoutOtherStarts {
                var ends: [Int32] = [0, 0]
                try #require(pipe(&ends) == 0)
                // Above the descriptors that the guardian itself uses.
                let held = fcntl(ends[1], F_DUPFD, 100)
                close(ends[1])
                defer { close(held) }
                return (try EmbeddedBroker.join(directory), ends[0])
            }
        }
        var reading = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        let ready = poll(&reading, 1, 0)
        #expect(ready == 1)
        #expect(reading.revents == Int16(POLLHUP))
        close(end)
        embedded.leave()
    }

    @Test func aDirectoryThatOthersCanWriteToIsRejected() throws {
        let directory = makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory)
        let error = #expect(throws: BrokerError.self) { try EmbeddedBroker.join(directory) }
        #expect(error?.code == .notPermitted)
    }

    func serverCount(_ directory: String) throws -> Int {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["pgrep", "-c", "-f", "redis-server unixsocket:\(directory)"]
        let output = Pipe.forOneChild()
        process.standardOutput = output
        try process.start()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Int(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }

    static func awaitEnd(of address: RedisAddress) throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while EmbeddedBroker.isAnswering(address) {
            guard ContinuousClock.now < deadline else {
                throw TestFailure("the embedded broker goes on though all have left")
            }
            usleep(10_000)
        }
    }

    /// Runs a call on a thread of its own, because joining blocks and the pool has few threads.
    static func onAThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result { try body() }) }
            thread.start()
        }
    }
}

/// Ways in which the server can fail.
extension EmbeddedBrokerTests {
    @Test func aBusyServerIsWaitedForAndNotStartedTwice() async throws {
        let directory = makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let first = try await Self.onAThread { try EmbeddedBroker.join(directory) }
        let server = try #require(try await Self.serverPID(first.address))
        kill(server, SIGSTOP)
        let joining = Task { try await Self.onAThread { try EmbeddedBroker.join(directory) } }
        // Longer than a check of the server takes.
        try await Self.onAThread { _ = usleep(1_500_000) }
        #expect(try serverCount(directory) == 1)
        kill(server, SIGCONT)
        let second = try await joining.value
        #expect(try await Self.serverPID(second.address) == server)
        first.leave()
        second.leave()
        try await Self.onAThread { try Self.awaitEnd(of: first.address) }
    }

    @Test func aServerThatEndedIsRestartedWhileItIsUsed() async throws {
        let directory = makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let embedded = try await Self.onAThread { try EmbeddedBroker.join(directory) }
        let server = try #require(try await Self.serverPID(embedded.address))
        kill(server, SIGKILL)
        try await Self.onAThread {
            let deadline = ContinuousClock.now + .seconds(20)
            while !EmbeddedBroker.isAnswering(embedded.address) {
                guard ContinuousClock.now < deadline else { throw TestFailure("the server was not restarted") }
                usleep(20_000)
            }
        }
        #expect(try await Self.serverPID(embedded.address) != server)
        embedded.leave()
        try await Self.onAThread { try Self.awaitEnd(of: embedded.address) }
    }

    private static func serverPID(_ address: RedisAddress) async throws -> Int32? {
        var context = try HiredisContext.greeted(address, ConnectionOptions())
        let info = try context.roundTrip(CommandWriter.command("INFO", "server").bytes, replies: 1).first?.text ?? ""
        return info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("process_id:") }.flatMap {
            Int32($0.dropFirst(11))
        }
    }
}

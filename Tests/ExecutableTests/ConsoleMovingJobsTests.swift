import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// Actions of `errand jobs` on many jobs while workers claim them.
@Suite struct ConsoleMovingJobsTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(_ count: Int) async throws {
        let input = (0..<count).map { #"{"operation":"work","id":"j\#($0)"}"# }.joined(separator: "\n")
        let output = try await Executable.producer.run(["push", "--from", "-"], on: server, input: input)
        #expect(output.status == 0, "\(output.error)")
    }

    /// Runs a command on 600 ready jobs, of which the first hundred are claimed after the first page has been read, so
    /// that the others move up.
    private func runWhileJobsMoveUp(_ arguments: [String]) async throws -> Output {
        try await push(600)
        let desk = try await Desk(server)
        let proxy = try ChaosProxy(to: server)
        defer { proxy.close() }
        proxy.treat { $0.contains("ready\r\n$3\r\n250\r\n") ? .hold : .pass }
        let command = try RunningExecutable(.console, arguments, environment: ["ERRAND_REDIS_URL": proxy.url])
        command.closeInput()
        try await until("the second page is asked for") { proxy.heldRequests > 0 }
        #expect(try await desk.claim(100).count == 100)
        proxy.release()
        return await command.end()
    }

    @Test func anExportMissesNoneThatMovesUp() async throws {
        let output = try await runWhileJobsMoveUp(["jobs", "export", "--state", "ready"])
        #expect(output.status == 0, "\(output.error)")
        #expect(output.lines.count == 600)
        #expect(Set(output.lines).count == 600)
        #expect(output.error.hasSuffix("600 jobs exported\n"), "\(output.error)")
    }

    @Test func aBulkActionMissesNoneThatMovesUp() async throws {
        let filter = ["--operation", "work", "--state", "ready"]
        let output = try await runWhileJobsMoveUp(["jobs", "cancel", "--yes"] + filter)
        #expect(output.status == 0, "\(output.error)")
        #expect(output.text == "500 cancelled, 100 stopping\n")
        #expect(!output.error.contains("missing"), "\(output.error)")
    }

    /// Running jobs are searched first, then ready ones.
    @Test func aBulkActionMissesNoneThatBeginsToRunInBetween() async throws {
        try await push(3)
        let desk = try await Desk(server)
        let proxy = try ChaosProxy(to: server)
        defer { proxy.close() }
        proxy.treat { $0.contains("ready\r\n$1\r\n0\r\n") ? .hold : .pass }
        let command = try RunningExecutable(
            .console,
            ["jobs", "cancel", "--yes"],
            environment: ["ERRAND_REDIS_URL": proxy.url]
        )
        command.closeInput()
        try await until("the line is asked for") { proxy.heldRequests > 0 }
        #expect(try await desk.claim(2).count == 2)
        proxy.release()
        let output = await command.end()
        #expect(output.text == "1 cancelled, 2 stopping\n", "\(output.error)")
    }

    @Test(arguments: [["jobs", "export"], ["jobs", "cancel", "--yes"]])
    func reportsAQueueThatNeverSettles(_ arguments: [String]) async throws {
        try await push(300)
        let desk = try await Desk(server)
        let proxy = try ChaosProxy(to: server)
        defer { proxy.close() }
        let pages = Counter()
        // One more job is pushed whenever the list is read from its beginning.
        proxy.treat { request in
            guard request.contains("ready\r\n$1\r\n0\r\n") else { return .pass }
            let id = "late-\(pages.next())"
            let pushed = DispatchSemaphore(value: 0)
            Task {
                _ = try? await desk.broker.push([OperationDescription("work", id: id).makeEnvelope()], to: "default")
                pushed.signal()
            }
            pushed.wait()
            return .pass
        }
        let output = try await Executable.console.run(
            arguments + ["--state", "ready"],
            environment: ["ERRAND_REDIS_URL": proxy.url]
        )
        #expect(output.status == 0, "\(output.error)")
        #expect(output.error.contains("some matching jobs may be missing, because the queue"), "\(output.error)")
        // The server does not have the script at first, so the first page may be requested twice.
        #expect((6...7).contains(pages.next()))
    }
}

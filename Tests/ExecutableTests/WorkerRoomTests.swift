import Foundation
import TestSupport
import Testing

/// Workers with a limit of open files that is too low for their commands.
@Suite struct WorkerRoomTests {
    private let server: RedisServer
    private var environment: [String: String] { ["ERRAND_REDIS_URL": server.url] }

    init() throws { server = try RedisServer() }

    private func worker(_ command: String, concurrency: Int, limit: String) throws -> RunningExecutable {
        let catalogue = server.directory + "/catalogue.yaml"
        try "operations:\n  work: {run: [sh, -c, \"\(command)\"]}\n"
            .write(toFile: catalogue, atomically: true, encoding: .utf8)
        return try RunningExecutable(
            .worker,
            ["--catalogue", catalogue, "--concurrency", "\(concurrency)"],
            environment: environment,
            shell: "ulimit \(limit); exec \"$@\""
        )
    }

    private func push(_ count: Int) async throws {
        let lines = (0..<count).map { _ in #"{"operation":"work"}"# + "\n" }.joined()
        #expect(try await Executable.producer.run(["push", "--from", "-"], on: server, input: lines).status == 0)
    }

    private func total(_ name: String) throws -> Int {
        Int(try server.run("HGET", "errand:{default}:counters", name)) ?? 0
    }

    @Test func commandsThatCannotStartRunLater() async throws {
        try await push(12)
        let worker = try worker("sleep 0.3", concurrency: 12, limit: "-n 40")
        try await eventually("all are done", within: .seconds(100)) { try total("finished") == 12 }
        worker.signal(SIGTERM)
        let output = await worker.end()
        #expect(output.status == 0)
        #expect(try total("dead") == 0 && total("failed") == 0)
        #expect(output.error.contains("the limit of open files is 40, and should be 148 for --concurrency 12"))
        #expect(output.error.contains("the command could not be started"), "it had room for all: this shows nothing")
    }

    @Test func theUsualLimitIsRaisedForTheWorkerAlone() async throws {
        try await push(24)
        let seen = server.directory + "/seen"
        let worker = try worker("ulimit -Sn >> \(seen); sleep 1", concurrency: 24, limit: "-Sn 64")
        try await eventually("all are done", within: .seconds(100)) { try total("finished") == 24 }
        worker.signal(SIGTERM)
        #expect(await worker.end().error.contains("warning") == false)
        let limits = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n")
        #expect(limits == Array(repeating: "64", count: 24))
    }
}

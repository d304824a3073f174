import Errand
import ErrandRedis
import Foundation
import Logging
import TestSupport
import Testing

/// The programs of the migration guides, run as processes.
@Suite struct ExampleProgramTests {
    @Test(arguments: ["errand-example-from-swift-jobs", "errand-example-from-vapor-queues"])
    func runsItsJobsAndDrains(name: String) async throws {
        let server = try RedisServer()
        let broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "examples"))
        defer { broker.close() }
        let program = try Program(name, [], environment: ["REDIS_URL": server.url])
        try await eventually("both jobs have finished: \(program.lines)") {
            try await broker.status(of: "default").queue.totals["finished"] == 2
        }
        program.signal(SIGTERM)
        #expect(try await program.end() == 0)
        #expect(program.lines.filter { $0.hasSuffix("Ellen!") } == ["Hello, Ellen!", "Bye, Ellen!"])
        #expect(try await broker.status(of: "default").sessions.isEmpty)
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func aSecondSignalEndsAWorkerAtOnce() async throws {
        let server = try RedisServer()
        let program = try Program("errand-example-from-vapor-queues", [], environment: ["REDIS_URL": server.url])
        let broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "examples"))
        defer { broker.close() }
        try await eventually("it works") { try await broker.status(of: "default").queue.totals["finished"] == 2 }
        program.signal(SIGINT)
        program.signal(SIGTERM)
        #expect(try await program.end() == 0)
    }
}

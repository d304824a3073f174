import Foundation
import TestSupport
import Testing

/// Errors of `errand-producer` and `errand` when the broker fails.
@Suite struct ProducerFailureTests {
    @Test(arguments: [(Executable.producer, ["push", "work"]), (.console, ["status"]), (.console, ["events"])])
    func brokerNotReachable(_ executable: Executable, _ arguments: [String]) async throws {
        let port = try FreePorts.next()
        let output = try await executable.run(arguments + ["--redis", "redis://:secret@127.0.0.1:\(port)"])
        #expect(output.status == 69)
        #expect(output.bytes.isEmpty)
        #expect(!output.error.contains("secret"))
    }

    @Test(arguments: [(Executable.producer, ["push", "work"]), (.console, ["jobs"])])
    func passwordNeededOrWrong(_ executable: Executable, _ arguments: [String]) async throws {
        let server = try RedisServer(tcp: true, ["--requirepass", "right"])
        let without = try await executable.run(arguments, on: server)
        #expect(without.status == 77, "\(without.error)")
        let wrong = try await executable.run(arguments + ["--redis", "redis://:wr0ng@127.0.0.1:\(server.port)"])
        #expect(wrong.status == 77, "\(wrong.error)")
        #expect(!wrong.error.contains("wr0ng"))
    }

    @Test(arguments: [(Executable.producer, ["push", "work"]), (.console, ["doctor"])])
    func badAddressInTheEnvironment(_ executable: Executable, _ arguments: [String]) async throws {
        let output = try await executable.run(arguments, environment: ["ERRAND_REDIS_URL": "rediss://user:secret@host"])
        #expect(output.status == 78)
        #expect(output.error.contains("TLS"))
        #expect(!output.error.contains("secret"))
    }

    @Test(arguments: [["push", "work", "--json", "--id", "one"], ["push", "--from", "-", "--json"]])
    func lostAnswerIsAnUnknownOutcome(_ arguments: [String]) async throws {
        let output = try await outputWithoutReply(arguments)
        #expect(try output.object == ["id": "one", "queue": "default", "outcome": "unknown", "holder": nil])
    }

    @Test func peopleReadTheIDsOfTheLinesThatWereNotConfirmed() async throws {
        let output = try await outputWithoutReply(["push", "--from", "-"])
        #expect(output.error.contains("line 1 not confirmed; its id is one"), "\(output.error)")
    }

    /// Returns the output of a push whose server is killed before it replies.
    private func outputWithoutReply(_ arguments: [String]) async throws -> Output {
        let server = try RedisServer()
        try server.run("CLIENT", "PAUSE", "600000", "WRITE")
        let running = try RunningExecutable(.producer, arguments, environment: ["ERRAND_REDIS_URL": server.url])
        running.write(Array((#"{"operation":"work","id":"one"}"# + "\n").utf8))
        running.closeInput()
        // On a very busy machine the producer itself may have timed out, which is the same for a
        // caller.
        try await until("the push has been sent") {
            let clients = try server.run("CLIENT", "LIST").split(separator: "\n")
            return running.hasEnded || clients.contains { $0.contains("errand-producer") && $0.contains("cmd=eval") }
        }
        server.kill(9)
        let output = await running.end()
        #expect(output.status == 75, "\(output.error)")
        #expect(output.error.contains("may or may not"))
        return output
    }

    #if os(Linux)
        @Test func passwordIsNotInTheProcessTitle() async throws {
            let server = try RedisServer(tcp: true, ["--requirepass", "s3cret"])
            let url = "redis://:s3cret@127.0.0.1:\(server.port)"
            let running = try RunningExecutable(.console, ["events", "--redis", url])
            _ = try await running.errorLine { $0.contains("listening") }
            let title = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(running.pid)/cmdline"))
            #expect(String(decoding: title, as: UTF8.self).contains("redis://:******@127.0.0.1"))
            running.signal(SIGINT)
            #expect(await running.end().status == 0)
        }
    #endif
}

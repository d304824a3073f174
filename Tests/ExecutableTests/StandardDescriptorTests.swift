import Foundation
import TestSupport
import Testing

/// Executables with unwritable output or invalid arguments.
@Suite struct StandardDescriptorTests {
    private let server: RedisServer
    private var environment: [String: String] { ["ERRAND_REDIS_URL": server.url] }

    init() throws { server = try RedisServer() }

    private func run(_ executable: Executable, _ arguments: [String], shell: String) async throws -> Output {
        let running = try RunningExecutable(executable, arguments, environment: environment, shell: shell)
        running.closeInput()
        return await running.end()
    }

    @Test(arguments: [#"exec "$@" > /dev/full"#, #"exec "$@" >&-"#])
    func unwritableOutputIsAFailure(_ shell: String) async throws {
        for (executable, arguments) in [
            (Executable.console, ["status"]), (.console, ["status", "--json"]), (.producer, ["push", "work"]),
            (.console, ["jobs", "export", "--queue", "default"]),
        ] {
            let output = try await run(executable, arguments, shell: shell)
            #expect(output.status == 74, "\(arguments)")
            #expect(output.error.contains("cannot write the output"), "\(output.error)")
        }
        #expect(try server.run("HLEN", "errand:{default}:body") == "1", "the push was one all the same")
    }

    @Test func aClosedPipeEndsACommandSilently() async throws {
        let output = try await run(.console, ["status"], shell: #"( sleep 1; "$@"; echo "status $?" >&2 ) | true"#)
        #expect(output.error == "status 141\n")
    }

    @Test func messagesWithoutStandardErrorAreDiscarded() async throws {
        let output = try await run(.producer, ["push", "work", "--unique", "often"], shell: #"exec "$@" 2>&- <&-"#)
        #expect(output.status == 64)
        #expect(output.bytes.isEmpty && output.error.isEmpty)
    }

    @Test(arguments: [Executable.producer, .console, .worker, .dashboard])
    func anArgumentThatIsNotUTF8IsReported(_ executable: Executable) async throws {
        let output = try await run(executable, ["push", "work"], shell: #"exec "$@" "$(printf 'caf\351')""#)
        #expect(output.status == 65)
        #expect(output.error == "error: argument 3 is not UTF-8; Errand accepts no other text\n")
        #expect(try server.run("DBSIZE") == "0")
    }

    @Test func aWorkerWithAClosedPipeStopsAsUsual() async throws {
        let catalogue = server.directory + "/catalogue.yaml"
        let gate = server.directory + "/gate"
        let begun = server.directory + "/begun"
        let command = "[sh, -c, \"touch \(begun); while [ ! -e \(gate) ]; do sleep 0.05; done\"]"
        try "operations:\n  wait: {run: \(command), timeout: 2m}\n"
            .write(toFile: catalogue, atomically: true, encoding: .utf8)
        let shell = #"""
            ( sh -c 'echo "pid $$" >&2; exec "$@"' sh "$@"; echo "status $?" >&2 ) | head -n 1
            """#
        let worker = try RunningExecutable(
            .worker,
            ["--catalogue", catalogue, "--json"],
            environment: environment,
            shell: shell
        )
        let pid = try #require(Int32(try await worker.errorLine { $0.hasPrefix("pid ") }.dropFirst(4)))
        _ = try await worker.line { $0.contains("registered") }
        #expect(try await Executable.producer.run(["push", "wait"], on: server).status == 0)
        // A job that is claimed and has not begun would be released.
        try await eventually("it runs") { FileManager.default.fileExists(atPath: begun) }
        kill(pid, SIGTERM)
        #expect(FileManager.default.createFile(atPath: gate, contents: nil))
        let output = await worker.end()
        #expect(output.error.hasSuffix("status 0\n"), "\(output.error)")
        #expect(try server.run("HGET", "errand:{default}:counters", "finished") == "1")
    }
}

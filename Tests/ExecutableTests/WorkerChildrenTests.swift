import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// Operations with long-lived children, in a worker process.
@Suite("Workers with long-lived children", .timeLimit(.minutes(3)))
struct WorkerChildrenTests {
    private let server: RedisServer
    private var environment: [String: String] { ["ERRAND_REDIS_URL": server.url] }

    /// Writes down the process and each end of its input; jobs continue where an earlier attempt was.
    private static let program = """
        import json, os, signal, sys
        place = sys.argv[1]
        def write(name, text):
            with open(place + "/" + name, "a") as file: file.write(text + "\\n")
        write("pids", str(os.getpid()))
        for line in sys.stdin:
            job = json.loads(line)
            def say(**what): print(json.dumps({"id": job["id"], "token": job["token"], **what}), flush=True)
            for step in range(job["checkpoint"] or 0, job["arguments"].get("steps", 1)):
                write("steps", str(step))
                say(checkpoint=step + 1)
                if step == job["arguments"].get("dies_after"): os.kill(os.getpid(), 9)
                if step == job["arguments"].get("hangs_after"): signal.pause()
            say(outcome="finished", result={"attempt": job["attempt"], "broker": os.environ.get("ERRAND_REDIS_URL")})
        write("ends", str(os.getpid()))
        """

    init() throws {
        server = try RedisServer()
        try Self.program.write(toFile: server.directory + "/child.py", atomically: true, encoding: .utf8)
        try """
        operations:
          count:
            serve: [python3, "\(server.directory)/child.py", "\(server.directory)"]
            instances: 2
            checkpoints: true
            backoff: {base: 100ms, longest: 100ms}
            timeout: 1m
        """.write(toFile: server.directory + "/catalogue.yaml", atomically: true, encoding: .utf8)
    }

    private func worker(_ more: String...) throws -> RunningExecutable {
        let arguments = ["--catalogue", server.directory + "/catalogue.yaml", "--concurrency", "2"] + more
        return try RunningExecutable(.worker, arguments, environment: environment)
    }

    private func lines(_ name: String) -> [String] {
        let text = (try? String(contentsOfFile: server.directory + "/" + name, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    private func push(_ arguments: String) async throws -> Output {
        try await Executable.producer.run(["push", "count", arguments, "--wait=1m", "--json"], on: server)
    }

    @Test func childrenEndByThemselvesWithTheWorker() async throws {
        let worker = try worker()
        for _ in 0..<5 {
            let output = try await push("{}")
            #expect(output.status == 0, "\(output.error)")
            #expect(output.text.contains(#"\"attempt\": 1, \"broker\": null"#), "\(output.text)")
        }
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
        #expect(lines("pids").count == 1, "one child has taken all jobs")
        #expect(lines("ends") == lines("pids"))
    }

    @Test func anotherChildContinuesFromTheCheckpoint() async throws {
        let worker = try worker()
        let output = try await push(#"{"steps":4,"dies_after":1}"#)
        #expect(output.status == 0, "\(output.error)")
        #expect(lines("steps") == ["0", "1", "2", "3"])
        #expect(lines("pids").count == 2)
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
    }

    @Test func childrenEndWithAWorkerThatIsKilled() async throws {
        let worker = try worker("--lease", "1s")
        let id = "hanging"
        let line = #"{"operation":"count","id":"\#(id)","arguments":{"steps":2,"hangs_after":0},"timeout_ms":60000}"#
        let output = try await Executable.producer.run(["push", "--from", "-"], on: server, input: line)
        #expect(output.status == 0, "\(output.error)")
        try await eventually("the child has stored where it is") {
            try server.run("HGET", "errand:{default}:checkpoints", id) == "1"
        }
        let pid = try #require(lines("pids").first.flatMap { pid_t($0) })
        worker.signal(SIGKILL)
        _ = await worker.end()
        try await eventually("the child has ended") { kill(pid, 0) != 0 }
        // Another worker recovers the job, which then goes on.
        let next = try self.worker("--lease", "1s")
        try await eventually("it has ended") { lines("steps") == ["0", "1"] }
        next.signal(SIGTERM)
        #expect(await next.end().status == 0)
    }

    private static let example = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Examples/Children").path

    /// The example of the documentation.
    @Test func theExampleShouts() async throws {
        let worker = try RunningExecutable(
            .worker,
            ["--catalogue", "catalogue.yaml"],
            environment: environment,
            shell: "cd '\(Self.example)' && exec \"$@\""
        )
        let output = try await Executable.producer.run(
            ["push", "shout", #"{"text":"hello"}"#, "--wait=1m", "--json"],
            on: server
        )
        #expect(output.status == 0 && output.text.contains(#"{\"text\": \"HELLO\"}"#), "\(output.text) \(output.error)")
        let failed = try await Executable.producer.run(["push", "shout", "{}", "--wait=1m"], on: server)
        #expect(
            failed.status == 1 && (failed.text + failed.error).contains("the argument 'text' is missing"),
            "\(failed)"
        )
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
    }
}

import Errand
import ErrandRedis
import TestSupport
import Testing

/// `errand queue pause|resume|clear|limit`.
@Suite struct ConsoleQueueTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(_ count: Int) async throws -> Output {
        let lines = (0..<count).map { _ in #"{"operation":"work"}"# }
        return try await Executable.producer.run(
            ["push", "--from", "-"],
            on: server,
            input: lines.joined(separator: "\n")
        )
    }

    private func queue(_ arguments: String..., input: String = "") async throws -> Output {
        try await Executable.console.run(["queue"] + arguments, on: server, input: input)
    }

    private func ready() async throws -> Int {
        let desk = try await Desk(server)
        return try await desk.broker.status(of: "default").queue.ready
    }

    @Test func pausesAndResumes() async throws {
        _ = try await push(1)
        let desk = try await Desk(server)
        let paused = try await queue("pause", "default", "--json")
        #expect(paused.text == #"{"queue":"default","paused":true}"# + "\n")
        #expect(try await desk.claim().isEmpty)
        #expect(try await queue("resume", "default").status == 0)
        #expect(try await desk.claim().count == 1)
    }

    @Test func clearAsksFirst() async throws {
        _ = try await push(3)
        for answer in ["\u{4}", "no\n", "y e s\n"] {
            let refused = try await clearOnTerminal(answer)
            #expect(refused.status == 1, "\(refused.text)")
        }
        #expect(try await ready() == 3)
        let done = try await clearOnTerminal("yes\n")
        #expect(done.status == 0)
        #expect(done.text.contains("3 jobs of default cancelled"))
    }

    private func clearOnTerminal(_ answer: String) async throws -> Output {
        let clear = try RunningExecutable(
            .console,
            ["queue", "clear", "default"],
            environment: ["ERRAND_REDIS_URL": server.url],
            onTerminal: true
        )
        _ = try await clear.line { $0.contains("3 waiting jobs") }
        clear.write(Array(answer.utf8))
        return await clear.end()
    }

    @Test func aProgramIsNotAsked() async throws {
        _ = try await push(2)
        let done = try await queue("clear", "default", input: "")
        #expect(done.status == 0)
        #expect(done.text == "2 jobs of default cancelled\n")
        #expect(try await ready() == 0)
    }

    @Test func clearsWithoutAsking() async throws {
        _ = try await push(1203)
        let output = try await queue("clear", "default", "--yes", "--json")
        #expect(output.text == #"{"queue":"default","cancelled":1203}"# + "\n")
        #expect(try await ready() == 0)
    }

    @Test func limitsAndPutsTheLimitBack() async throws {
        #expect(try await queue("limit", "default", "2", "--json").text == #"{"queue":"default","limit":2}"# + "\n")
        #expect(try await push(2).status == 0)
        let full = try await push(1)
        #expect(full.status == 69)
        #expect(try await queue("limit", "default", "0").status == 0)
        #expect(try await push(1).status == 0)
    }

    @Test func setsWhatCanBeSet() async throws {
        let set = try await queue("set", "default", "events", "500", "--json")
        #expect(set.text == #"{"queue":"default","setting":"events","value":"500"}"# + "\n")
        for (setting, value) in [("limit", "9"), ("starts", "on"), ("keep-results", "2h"), ("remember-ids", "90s")] {
            #expect(try await queue("set", "default", setting, value).status == 0)
        }
        func settings() throws -> [String] {
            try server.run("HGETALL", "errand:{default}:settings").split(whereSeparator: \.isNewline).map(String.init)
        }
        let stored = try settings()
        let pairs = Set(stride(from: 0, to: stored.count, by: 2).map { "\(stored[$0])=\(stored[$0 + 1])" })
        #expect(pairs == ["stream=500", "maximum=9", "starts=1", "keep_ms=7200000", "remember_ms=90000"])
        for setting in ["limit", "starts", "keep-results", "remember-ids", "events"] {
            #expect(try await queue("set", "default", setting, "default").status == 0)
        }
        #expect(try settings().isEmpty)
    }

    @Test func refusesWrongUsage() async throws {
        for arguments in [
            ["pause"], ["pause", "a b"], ["limit", "q"], ["limit", "q", "many"], ["limit", "q", "--", "-1"],
            ["set", "q", "colour", "1"], ["set", "q", "events", "1000001"], ["set", "q", "starts", "1"],
            ["set", "q", "keep-results", "2"], ["set", "q", "remember-ids", "10ms"],
        ] {
            #expect(try await Executable.console.run(["queue"] + arguments, on: server).status == 64)
        }
    }
}

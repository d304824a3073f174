import Errand
import Foundation
import TestSupport
import Testing

/// `errand events`.
@Suite struct ConsoleEventsTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func start(_ arguments: String...) async throws -> RunningExecutable {
        let running = try RunningExecutable(
            .console,
            ["events"] + arguments,
            environment: ["ERRAND_REDIS_URL": server.url]
        )
        _ = try await running.errorLine { $0.hasPrefix("listening") }
        return running
    }

    @Test func aRefusedSubscriptionIsReported() async throws {
        try server.run("ACL", "SETUSER", "errand", "-subscribe", "-psubscribe")
        let events = try await Executable.console.run(["events"], on: server)
        #expect(events.status == 77)
        #expect(events.error.contains("psubscribe"), "\(events.error)")
        let catalogue = server.directory + "/catalogue.yaml"
        try "operations:\n  work: {run: [\"true\"]}\n".write(toFile: catalogue, atomically: true, encoding: .utf8)
        let worker = try RunningExecutable(
            .worker,
            ["--catalogue", catalogue],
            environment: ["ERRAND_REDIS_URL": server.url]
        )
        _ = try await worker.errorLine { $0.contains("may not hear its channels") }
        #expect(try await Executable.producer.run(["push", "work"], on: server).status == 0)
        try await eventually("it works all the same") {
            try server.run("HGET", "errand:{default}:counters", "finished") == "1"
        }
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
    }

    private func finish(_ id: String, operation: String = "work", in queue: String = "default") async throws {
        _ = try await Executable.producer.run(["push", operation, "--id", id, "--queue", queue], on: server)
        let desk = try await Desk(server, queues: [queue], operations: [operation])
        try await desk.work(.finished, queue: queue)
    }

    @Test func writesEventsOfEveryQueueAsTheyArrive() async throws {
        let running = try await start("--json")
        try await finish("one", in: "made-later")
        let line = try await running.line { $0.contains(#""event":"finished""#) }
        let event = try JSON(text: line).object
        #expect(event["id"] == "one")
        #expect(event["queue"] == "made-later")
        #expect(event["operation"] == "work")
        #expect(event["attempt"] == 1)
        #expect(event["duration_ms"] == 12)
        #expect(event["error"] == JSON.null)
        running.signal(SIGINT)
        #expect(await running.end().status == 0)
    }

    @Test func showsOnlyWhatIsAskedFor() async throws {
        let running = try await start("--json", "--queue", "a", "--operation", "work")
        try await finish("other-queue", in: "b")
        try await finish("other-operation", operation: "play", in: "a")
        try await finish("wanted", in: "a")
        _ = try await running.line { $0.contains("wanted") }
        running.signal(SIGTERM)
        let output = await running.end()
        #expect(output.status == 0)
        #expect(try output.objects.map { $0["id"] } == ["wanted"])
    }

    @Test func continuesAfterACursor() async throws {
        #expect(try await Executable.console.run(["queue", "create", "a"], on: server).status == 0)
        let first = try await Executable.console.run(["queue", "set", "a", "events", "1000"], on: server)
        #expect(first.status == 0)
        try await finish("one", in: "a")
        try await finish("two", in: "a")
        let environment = ["ERRAND_REDIS_URL": server.url]
        func events(after cursor: String) throws -> RunningExecutable {
            let arguments = ["events", "--queue", "a", "--json", "--after", cursor]
            return try RunningExecutable(.console, arguments, environment: environment)
        }
        let all = try events(after: "oldest")
        _ = try await all.line { $0.contains("two") }
        all.signal(SIGINT)
        let output = await all.end()
        #expect(output.status == 0)
        #expect(try output.objects.map { $0["id"] } == ["one", "two"])
        let cursor = try #require(output.error.split(separator: " ").last.map { $0.filter { !$0.isNewline } })
        try await finish("three", in: "a")
        let rest = try events(after: cursor)
        _ = try await rest.line { $0.contains("three") }
        // New events arrive while it waits, and a cursor of an earlier epoch is reported.
        try await finish("four", in: "a")
        _ = try await rest.line { $0.contains("four") }
        rest.signal(SIGTERM)
        let more = await rest.end()
        #expect(try more.objects.map { $0["id"] } == ["three", "four"])
        #expect(!more.error.contains("gap"))
        let lost = try events(after: "1-5")
        #expect(try await lost.errorLine { $0.hasPrefix("gap") }.contains("an unknown number of events of a missed"))
        lost.signal(SIGINT)
        _ = await lost.end()
    }

    @Test(arguments: [
        (["--after", "oldest"], 64, "one --queue"), (["--queue", "a", "--after", "never"], 64, "is not a cursor"),
        (["--queue", "a", "--after", "oldest"], 78, "errand queue set a events"),
    ])
    func reportsWhyItCannotContinue(arguments: [String], status: Int32, reason: String) async throws {
        let output = try await Executable.console.run(["events"] + arguments, on: server)
        #expect(output.status == status)
        #expect(output.error.contains(reason), "\(output.error)")
    }

    @Test func skipsInvalidEvents() async throws {
        let running = try await start("--json")
        let channel = "errand:{default}:events"
        for garbage in [
            "", "garbage", "{\"event\":7}", "[1]", "{\"event\":\"finished\"", "null\n\u{1b}[2J",
            "{\"event\":\"a\u{1b}b\"}",
        ] {
            try server.run("PUBLISH", channel, garbage)
        }
        try server.run("PUBLISH", channel, "junk\n{\"event\":\"finished\",\"id\":\"good\"}\njunk")
        _ = try await running.line { $0.contains("good") }
        running.signal(SIGINT)
        let output = await running.end()
        #expect(output.text == #"{"event":"finished","id":"good"}"# + "\n")
    }

    @Test func makesEventsSafeForTerminals() async throws {
        let running = try await start()
        let event = #"{"event":"failed","id":"one","name":"a\u001b[2J","error":"b\u009bc","at_ms":99999999999999999}"#
        try server.run("PUBLISH", "errand:{default}:events", event)
        let line = try await running.line { $0.contains("one") }
        #expect(line.contains(#"a\u{1b}[2J"#) && line.contains(#"b\u{9b}c"#))
        #expect(!line.unicodeScalars.contains { $0.value == 0x1b || $0.value == 0x9b })
        running.signal(SIGINT)
        #expect(await running.end().status == 0)
    }

    @Test func endsWhenItsOutputIsClosed() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "timeout 60 \"$0\" events --json 2>\"$1\" | head -n 1", try Executable.console.url.path,
            server.directory + "/log",
        ]
        process.environment = ["ERRAND_REDIS_URL": server.url, "PATH": "/usr/bin:/bin"]
        process.standardOutput = FileHandle.nullDevice
        let ended = AsyncStream<Int32>.makeStream()
        process.terminationHandler = {
            ended.continuation.yield($0.terminationStatus)
            ended.continuation.finish()
        }
        try process.start()
        try await until("the pipe has ended") {
            try server.run("PUBLISH", "errand:{default}:events", #"{"event":"finished"}"#)
            return !process.isRunning
        }
        for await status in ended.stream { #expect(status == 0) }
    }
}

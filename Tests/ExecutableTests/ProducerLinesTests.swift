import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// `errand-producer push --from`.
@Suite struct ProducerLinesTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(_ input: [UInt8]) async throws -> Output {
        try await Executable.producer.run(
            ["push", "--from", "-", "--json"],
            input: input,
            environment: ["ERRAND_REDIS_URL": server.url]
        )
    }

    private func push(_ lines: [String]) async throws -> Output {
        try await push(Array(lines.joined(separator: "\n").utf8))
    }

    @Test func writesOneReceiptALineInOrder() async throws {
        let lines = (0..<1203).map { #"{"operation":"work","id":"job-\#($0)","queue":"q\#($0 % 3)"}"# }
        let file = server.directory + "/jobs.ndjson"
        try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let output = try await Executable.producer.run(["push", "--from", file, "--json"], on: server)
        #expect(output.status == 0, "\(output.error)")
        let receipts = try output.objects
        #expect(receipts.map { $0["id"]?.string } == (0..<1203).map { "job-\($0)" })
        #expect(receipts.map { $0["queue"]?.string } == (0..<1203).map { "q\($0 % 3)" })
        #expect(receipts.allSatisfy { $0["outcome"] == "accepted" })
    }

    @Test func skipsBlankLinesAndAcceptsEveryLineEnding() async throws {
        let output = try await push([
            #"{"operation":"work"}"# + "\r", "", "  ", #" {"operation":"work"} "#, #"{"operation":"work"}"#,
        ])
        #expect(output.status == 0, "\(output.error)")
        #expect(output.lines.count == 3)
    }

    @Test func `a byte order mark before a line is ignored`() async throws {
        let line = #"{"operation":"work"}"#
        // Two such files, concatenated.
        let output = try await push(["\u{FEFF}\(line)\r", line + "\r", "\u{FEFF}\(line)\r", "\u{FEFF}\r"])
        #expect(output.status == 0, "\(output.error)")
        #expect(output.lines.count == 3)
    }

    @Test func `input in UTF-16 is rejected at once, with the command to convert it`() async throws {
        let lines = "{\"operation\":\"work\"}\r\n{\"operation\":\"work\"}\r\n"
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian] {
            let output = try await push(Array(try #require(lines.data(using: encoding))))
            #expect(output.status == 65)
            #expect(output.error.contains("standard input is not UTF-8 but, as it seems, UTF-16"), "\(output.error)")
            #expect(!output.error.contains("line 2"), "\(output.error)")
        }
    }

    @Test func `arguments may begin with a byte order mark`() async throws {
        let output = try await Executable.producer.run(["push", "work", "\u{FEFF}{\"a\":1}", "--json"], on: server)
        #expect(output.status == 0, "\(output.error)")
        let id = try #require(try output.object["id"]?.string)
        let shown = try await Executable.console.run(["job", "show", id, "--json", "--show-arguments"], on: server)
        #expect(try shown.object["arguments"] == ["a": 1])
    }

    @Test func acceptsAnEmptyInput() async throws {
        let output = try await push([UInt8]())
        #expect(output.status == 0)
        #expect(output.bytes.isEmpty)
    }

    @Test func reportsBadLinesByNumberAndPushesTheRest() async throws {
        let nested = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        var input: [UInt8] = []
        let lines: [[UInt8]] = [
            Array(#"{"operation":"work","id":"first"}"#.utf8),
            Array("{not json".utf8),
            Array(#"{"operation":7}"#.utf8),
            Array(#"{"operation":"work","arguments":"\#(String(repeating: "x", count: 2 << 20))"}"#.utf8),
            Array(#"{"operation":"work","arguments":"\#(String(repeating: "x", count: 1_048_600))"}"#.utf8),
            Array(#"{"operation":"work","arguments":\#(nested)}"#.utf8),
            Array(#"{"operation":"work","name":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8),
            Array(#"{"v":2,"operation":"work"}"#.utf8),
            Array(#"{"operation":"work","priority":"5"}"#.utf8),
            Array(#"["operation","work"]"#.utf8), Array("{".utf8),
            Array(#"{"operation":"work","id":"last"}"#.utf8),
        ]
        for line in lines { input += line + [10] }
        let output = try await push(input)
        #expect(output.status == 65)
        #expect(try output.objects.map { $0["id"]?.string } == ["first", "last"])
        for number in 2...11 { #expect(output.error.contains("line \(number): "), "line \(number)") }
        #expect(!output.error.contains("line 1: ") && !output.error.contains("line 12: "))
        #expect(output.error.contains("10 rejected"))
        #expect(output.error.contains("\"priority\" at column 32: must be a whole number"), "\(output.error)")
        #expect(output.error.contains("; each line must hold a whole description"), "\(output.error)")
    }

    @Test func doesNotHoldALineWithoutAnEnd() async throws {
        let running = try RunningExecutable(
            .producer,
            ["push", "--from", "-"],
            environment: ["ERRAND_REDIS_URL": server.url]
        )
        running.write(
            [UInt8](repeating: UInt8(ascii: "x"), count: 128 << 20) + Array("\n{\"operation\":\"work\"}\n".utf8)
        )
        let report = try await running.errorLine { $0.hasPrefix("line 1: ") }
        #expect(report.contains("134217728 bytes"))
        #if os(Linux)
            let status = try String(contentsOfFile: "/proc/\(running.pid)/status", encoding: .utf8)
            let peak = try #require(status.firstMatch(of: /VmHWM:\s+([0-9]+) kB/).flatMap { Int($0.1) })
            #expect(peak < 80_000)
        #endif
        running.closeInput()
        #expect(await running.end().status == 65)
    }

    @Test func pushesWhatASlowPipeHasGiven() async throws {
        let running = try RunningExecutable(
            .producer,
            ["push", "--from", "-", "--json"],
            environment: ["ERRAND_REDIS_URL": server.url]
        )
        // The input stays open, so only a receipt shows that the line did not wait for more.
        running.write(Array((#"{"operation":"work","id":"one"}"# + "\n{\"oper").utf8))
        _ = try await running.line { $0.contains(#""id":"one""#) }
        running.write(Array((#"ation":"work","id":"two"}"# + "\n").utf8))
        _ = try await running.line { $0.contains(#""id":"two""#) }
        running.closeInput()
        #expect(await running.end().status == 0)
    }

    @Test func aFileThatIsNotThereIsBadInput() async throws {
        let output = try await Executable.producer.run(["push", "--from", "/no/such/file"], on: server)
        #expect(output.status == 65)
        #expect(output.error.contains("/no/such/file"))
    }

    @Test func reportsLinesThatAFullQueueRejected() async throws {
        let desk = try await Desk(server)
        try await desk.broker.configure("default", QueueSettings(maximumLength: 500))
        let output = try await push((0..<1000).map { _ in #"{"operation":"work"}"# })
        #expect(output.status == 69)
        #expect(output.error.contains("lines 501 to 1000"))
        #expect(output.error.contains("500 accepted, 500 not pushed"))
        #expect(output.lines.count == 500)
    }

    @Test func `a queue accepts as many lines of one input as it has room for`() async throws {
        let desk = try await Desk(server)
        try await desk.broker.configure("default", QueueSettings(maximumLength: 5))
        let lines = (1...8).map { #"{"operation":"work","id":"job-\#($0)"}"# }
        let output = try await push(lines)
        #expect(output.status == 69, "\(output.error)")
        #expect(try output.objects.map { $0["id"]?.string } == (1...5).map { "job-\($0)" })
        #expect(output.error.contains("lines 6 to 8 not pushed to queue default"), "\(output.error)")
        #expect(output.error.contains("is full: it holds 5, its limit is 5"), "\(output.error)")
        #expect(output.error.contains("errand queue limit default"), "\(output.error)")
        #expect(output.error.contains("5 accepted, 3 not pushed"), "\(output.error)")
        // A repetition needs no room, so the lines after it get the room that is left.
        try await desk.broker.configure("default", QueueSettings(maximumLength: 7))
        let again = try await push(lines)
        #expect(again.error.contains("2 accepted, 5 exists, 1 not pushed"), "\(again.error)")
        // It does not depend on earlier lines either.
        let behind = try await push([#"{"operation":"work","id":"new"}"#] + lines)
        #expect(behind.status == 69, "\(behind.error)")
        #expect(behind.error.contains("7 exists, 2 not pushed"), "\(behind.error)")
        #expect(try behind.objects.map { $0["id"]?.string } == (1...7).map { "job-\($0)" })
    }

    @Test func `a full queue does not hold back the lines of other queues`() async throws {
        let desk = try await Desk(server, queues: ["full", "other"])
        try await desk.broker.configure("full", QueueSettings(maximumLength: 1))
        func line(_ queue: String) -> String { #"{"operation":"work","queue":"\#(queue)"}"# }
        #expect(try await push([line("full")]).status == 0)
        // The first batch is all for the full queue, and one line of the next one.
        let lines =
            Array(repeating: line("full"), count: 600) + [line("other"), "rubbish", line("full"), line("other")]
        let output = try await push(lines)
        #expect(output.status == 69, "\(output.error)")
        #expect(try output.objects.map { $0["queue"]?.string } == ["other", "other"])
        #expect(output.error.contains("lines 1 to 500 not pushed to queue full"), "\(output.error)")
        #expect(output.error.contains("2 accepted, 601 not pushed, 1 rejected"), "\(output.error)")
        #expect(!output.error.contains("no jobs in the input"), "\(output.error)")
        #expect(try await desk.broker.status(of: "other").queue.ready == 2)
    }

    @Test func `a full queue alone is not an input without jobs`() async throws {
        let desk = try await Desk(server)
        try await desk.broker.configure("default", QueueSettings(maximumLength: 1))
        #expect(try await push([#"{"operation":"work"}"#]).status == 0)
        let output = try await push([#"{"operation":"work"}"#])
        #expect(output.status == 69)
        #expect(output.error.contains("line 1 not pushed to queue default"), "\(output.error)")
        #expect(!output.error.contains("no jobs in the input"), "\(output.error)")
    }

    @Test func `unreadable input is explained`() async throws {
        for (path, words) in [
            (server.directory, "it is a directory, not a file"),
            ("/etc/passwd/x", "a part of its path is not a directory"),
        ] {
            let output = try await Executable.producer.run(["push", "--from", path], on: server)
            #expect(output.status == 65)
            #expect(output.error.contains("\(path) cannot be read: \(words)"), "\(output.error)")
        }
    }
}

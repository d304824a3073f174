import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// `errand-producer push OPERATION`.
@Suite struct ProducerPushTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(_ arguments: String..., more: [String] = []) async throws -> Output {
        try await Executable.producer.run(["push"] + arguments + more, on: server)
    }

    @Test func writesTheReceiptAsDocumented() async throws {
        let output = try await push("thumbnail", #"{"path":"a.jpg"}"#, "--queue", "images", "--id", "one", "--json")
        #expect(output.status == 0)
        #expect(output.text == #"{"id":"one","queue":"images","outcome":"accepted","holder":null}"# + "\n")
        #expect(output.error == "broker: \(server.shownURL)\n")
    }

    @Test func makesAnIDAndPrintsIt() async throws {
        let output = try await push("thumbnail")
        #expect(output.status == 0)
        #expect(output.text.wholeMatch(of: /accepted [0-9A-Z]{26} in queue default\n/) != nil)
    }

    @Test func reportsTheHolderOfTheName() async throws {
        _ = try await push("thumbnail", "--id", "one", "--name", "n", "--unique", "drop")
        let dropped = try await push("thumbnail", "--id", "two", "--name", "n", "--unique", "drop", "--json")
        #expect(try dropped.object == ["id": "one", "queue": "default", "outcome": "dropped", "holder": "one"])
        let replaced = try await push("thumbnail", "--id", "three", "--name", "n", "--unique", "replace", "--json")
        #expect(try replaced.object == ["id": "three", "queue": "default", "outcome": "replaced", "holder": "one"])
        let again = try await push("thumbnail", "--id", "three", "--name", "n", "--unique", "replace", "--json")
        #expect(try again.object == ["id": "three", "queue": "default", "outcome": "exists", "holder": nil])
    }

    @Test func throttlesDebouncesAndKeepsTheLatest() async throws {
        let throttle = ["--name", "n", "--unique", "throttle", "--window", "1h", "--json"]
        let first = try await push("sync", "--id", "one", more: throttle)
        let end = try #require(try first.object["until_ms"])
        let second = try await push("sync", "--id", "two", more: throttle).object
        #expect(second["outcome"] == "dropped" && second["holder"] == "one" && second["until_ms"] == end)
        let debounce = ["--name", "m", "--unique", "debounce", "--window", "2h", "--at-most", "1h", "--json"]
        let waiting = try await push("index", "--id", "three", more: debounce).object
        let replaced = try await push("index", "--id", "four", more: debounce).object
        #expect(
            replaced["outcome"] == "replaced" && replaced["until_ms"] == waiting["until_ms"]
                && waiting["until_ms"] != end
        )
        #expect(try await push("sync", "--unique", "keep-latest").status == 0)
        #expect(try await push("sync", "--unique", "throttle").status == 65)
    }

    @Test func sendsEveryOption() async throws {
        let options = [
            "--timeout", "2m", "--retries", "7", "--backoff", "5s,2h,0.5", "--priority", "9",
            "--at", "2030-01-02T03:04:05.250+01:00",
        ]
        let output = try await Executable.producer.run(
            ["push", "work", "[1,2.50]", "--id", "one"] + options,
            on: server
        )
        #expect(output.status == 0, "\(output.error)")
        let desk = try await Desk(server)
        let record = try #require(try await desk.broker.inspect(["one"], on: "default").first ?? nil)
        let job = try JobEnvelope.read(stored: record.body)
        #expect(job.description.arguments.description == "[1,2.50]")
        #expect(job.timeout == .seconds(120))
        #expect(job.retries == 7)
        #expect(job.description.backoff == RetryDelays(base: .seconds(5), longest: .seconds(7200), jitter: 0.5))
        #expect(job.priority == 9)
        #expect(record.state == .scheduled)
        #expect(record.at == 1_893_549_845_250)
    }

    @Test(arguments: ["-5", "-1.5e3"]) func takesANegativeNumber(_ number: String) async throws {
        let output = try await push("work", number, "--id", "one")
        #expect(output.status == 0, "\(output.error)")
        let desk = try await Desk(server)
        let record = try #require(try await desk.broker.inspect(["one"], on: "default").first ?? nil)
        #expect(try JobEnvelope.read(stored: record.body).description.arguments.description == number)
    }

    @Test func countsADelayFromTheServersTime() async throws {
        let before = try #require(Int64(try server.run("TIME").split(separator: "\n")[0]))
        _ = try await push("work", "--delay", "1h", "--id", "one")
        let after = try #require(Int64(try server.run("TIME").split(separator: "\n")[0]))
        let desk = try await Desk(server)
        let at = try #require(try await desk.broker.inspect(["one"], on: "default").first??.at)
        #expect((before + 3600) * 1000 <= at && at <= (after + 3601) * 1000)
    }

    @Test(arguments: [
        ["push"], ["push", "work", "{}", "more"], ["push", "work", "--timeout", "10 parsecs"],
        ["push", "work", "--unique", "maybe"], ["push", "work", "--backoff", "often"],
        ["push", "work", "--backoff", "5s,1h,0.2,3"], ["push", "work", "--backoff", "5s,,0.2"],
        ["push", "work", "--backoff", "5s,1h,much"], ["push", "--from", "-", "--backoff", "5s"],
        ["push", "work", "--priority", "high"], ["push", "work", "--at", "2026-02-30T10:00:00Z"],
        ["push", "work", "--at", "2026-02-03T10:00:00"],
        ["push", "work", "--unique", "drop", "--window", "1s"],
        ["push", "work", "--window", "1s"], ["push", "work", "--at-most", "1s"],
        ["push", "work", "--unique", "throttle", "--window", "1s", "--at-most", "2s"],
        ["push", "work", "--delay", "1s", "--at", "2026-02-03T10:00:00Z"],
        ["push", "work", "--wait=soon"], ["push", "work", "--from", "-"], ["push", "--from", "-", "--wait"],
        ["push", "--from", "-", "--queue", "q"], ["push", "work", "--redis", "ftp://host"], ["pull"],
        ["push", "work", "--redis", "redis://h", "--embedded", "d"],
    ])
    func rejectsWrongUsage(_ arguments: [String]) async throws {
        let output = try await Executable.producer.run(arguments, on: server)
        #expect(output.status == 64)
        #expect(output.bytes.isEmpty)
        #expect(!output.error.isEmpty)
    }

    static let nineTags = ["work"] + (1...9).flatMap { ["--tag", "t\($0)"] }

    @Test(arguments: [
        (["work", "--delay", "30"], "write a whole number and a unit"), (["work", "--wait", "90"], "write --wait 90s"),
        (["work", "--backoff", "5"], "write a whole number and a unit"),
        (["work", "--backoff", "1s,1m,x"], "5s,1h,0.2"),
    ])
    func `wrong usage says how to write it`(_ arguments: [String], _ hint: String) async throws {
        let output = try await Executable.producer.run(["push"] + arguments, on: server)
        #expect(output.status == 64)
        #expect(output.error.contains(hint), "\(output.error)")
    }

    @Test(arguments: [
        (["push", "--frm", "jobs"], "--frm", "--from"),
        (["push", "work", "--delay", "1s", "--att=2026-02-03T10:00:00Z", "--window", "1s"], "--att", "--at"),
    ])
    func `an unknown option is named before what is missing`(
        _ arguments: [String],
        _ name: String,
        _ meant: String
    )
        async throws
    {
        let output = try await Executable.producer.run(arguments, on: server)
        #expect(output.status == 64)
        let first = "Error: Unknown option '\(name)'. Did you mean '\(meant)'?\nUsage: "
        #expect(output.error.hasPrefix(first), "\(output.error)")
    }

    @Test(arguments: [
        (["work", "{bad"], "JSON"), (["work", "{} {}"], "JSON"), (["two words"], "the operation must be"),
        (["work", "--queue", "a:b"], "--queue must"), (["work", "--priority", "10"], "--priority must"),
        (["work", "--retries=-1"], "--retries must"), (["work", "--id", "a b"], "--id must"),
        (["work", "--name", ""], "--name must"), (["work", "--backoff", "5s,1s"], "--backoff: the longest wait must"),
        (["work", "--backoff", "366d"], "--backoff: the first wait is too long: at most 365d"),
        (["work", "--backoff", "1s,1m,2"], "--backoff: the jitter must"),
        (["work", "--backoff", "1s,1m,nan"], "--backoff: the jitter must"),
        (["work", "--timeout", "366d"], "--timeout is too long: at most 365d is allowed"),
        (["work", "--at", "2400-01-01T00:00:00Z"], "--at is too late: at most 2286-11-20T17:46:39"),
        (["work", "--unique", "throttle"], "--window is missing: the policies throttle and debounce need it"),
        (
            ["work", "--unique", "debounce", "--window", "5s", "--delay", "1m"],
            "--delay and --at cannot be used with --unique debounce"
        ),
        (nineTags, "--tag: at most 8 tags of 1 to 64 bytes"),
        (["work", "{bad"], "write an object in single quotes"),
        (["work", String(repeating: "[", count: 65) + String(repeating: "]", count: 65)], "64"),
        (["work", "--name", String(repeating: "n", count: 1025)], "--name must"),
    ])
    func rejectsBadInput(_ arguments: [String], naming word: String) async throws {
        let output = try await Executable.producer.run(["push"] + arguments, on: server)
        #expect(output.status == 65, "\(output.error)")
        #expect(output.error.contains(word))
        #expect(try server.run("DBSIZE") == "0")
    }
}

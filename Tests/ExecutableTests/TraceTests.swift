import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// Traces that follow jobs through the executables.
@Suite struct TraceTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let other = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func push(
        _ words: [String],
        _ environment: [String: String] = [:],
        lines: String = ""
    ) async throws -> Output {
        try await Executable.producer.run(
            ["push"] + words,
            input: Array(lines.utf8),
            environment: environment.merging(["ERRAND_REDIS_URL": server.url]) { $1 }
        )
    }

    private func meta(of id: String) async throws -> [String: String] {
        let desk = try await Desk(server)
        let record = try #require(try await desk.broker.inspect([id], on: "default").first ?? nil)
        return try JobEnvelope.read(stored: record.body).description.meta
    }

    // MARK: - The producer

    @Test func theCallersTraceTravelsAlong() async throws {
        let caller = ["TRACEPARENT": Self.parent, "TRACESTATE": "a=1"]
        #expect(try await push(["work", "--id", "one"], caller).status == 0)
        #expect(try await meta(of: "one") == ["traceparent": Self.parent, "tracestate": "a=1"])
        #expect(try await push(["work", "--id", "two"], ["TRACEPARENT": Self.parent]).status == 0)
        #expect(try await meta(of: "two") == ["traceparent": Self.parent])
    }

    @Test func linesThatNameATraceKeepIt() async throws {
        let lines = """
            {"operation":"work","id":"none"}
            {"operation":"work","id":"other","meta":{"tenant":"a"}}
            {"operation":"work","id":"own","meta":{"traceparent":"\(Self.other)"}}
            {"operation":"work","id":"state","meta":{"tracestate":"own=1"}}
            """
        let caller = ["TRACEPARENT": Self.parent, "TRACESTATE": "a=1"]
        let output = try await push(["--from", "-"], caller, lines: lines)
        #expect(output.status == 0, "\(output.error)")
        #expect(try await meta(of: "none") == ["traceparent": Self.parent, "tracestate": "a=1"])
        #expect(
            try await meta(of: "other") == ["tenant": "a", "traceparent": Self.parent, "tracestate": "a=1"]
        )
        #expect(try await meta(of: "own") == ["traceparent": Self.other])
        #expect(try await meta(of: "state") == ["tracestate": "own=1"])
    }

    static let notValid = [
        ["TRACEPARENT": "00-x"], ["TRACEPARENT": ""], ["TRACESTATE": "a=1"],
        ["TRACEPARENT": parent.uppercased(), "TRACESTATE": "a=1"],
    ]

    @Test(arguments: notValid)
    func invalidValuesAreLeftOut(_ caller: [String: String]) async throws {
        let output = try await push(["work", "--id", "one"], caller)
        #expect(output.status == 0)
        #expect(output.error == "broker: \(server.shownURL)\n")
        #expect(try await meta(of: "one").isEmpty)
    }

    @Test func aTraceNeverMakesAJobTooLarge() async throws {
        // It fits alone and with its defaults, but not with a trace.
        let note = String(repeating: "x", count: DescriptionLimits.descriptionBytes - 500)
        let line = #"{"operation":"work","id":"one","note":"\#(note)"}"#
        let caller = ["TRACEPARENT": Self.parent, "TRACESTATE": String(repeating: "x", count: 512)]
        let output = try await push(["--from", "-"], caller, lines: line)
        #expect(output.status == 0, "\(output.error)")
        #expect(try await meta(of: "one").isEmpty)
    }

    // MARK: - The worker

    @Test func aCommandGetsOnlyTheTraceOfTheJob() async throws {
        let catalogue = server.directory + "/catalogue.yaml"
        let text = #"operations: {tell: {run: [sh, -c, "env | grep ^TRACE | sort"]}}"#
        try text.write(toFile: catalogue, atomically: true, encoding: .utf8)
        // The worker itself may also have been started within a trace.
        let worker = try RunningExecutable(
            .worker,
            ["--catalogue", catalogue, "--redis", server.url],
            environment: ["TRACEPARENT": Self.other, "TRACESTATE": "worker=1"]
        )
        let whole = try await push(["tell", "--wait"], ["TRACEPARENT": Self.parent, "TRACESTATE": "a=1"])
        #expect(whole.text == "TRACEPARENT=\(Self.parent)\nTRACESTATE=a=1\n", "\(whole.error)")
        let parentOnly = try await push(["tell", "--wait"], ["TRACEPARENT": Self.parent])
        #expect(parentOnly.text == "TRACEPARENT=\(Self.parent)\n", "\(parentOnly.error)")
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
    }

    // MARK: - The console

    private func show(_ words: String...) async throws -> Output {
        try await Executable.console.run(["job", "show", "one"] + words, on: server)
    }

    @Test func aJobIsShownWithItsMeta() async throws {
        let long = String(repeating: "x", count: 250)
        let meta = #"{"b":[1, 2],"a":"tab\u001b[2J\nstate done","long":"\#(long)"}"#
        let line = #"{"operation":"work","id":"one","meta":\#(meta)}"#
        #expect(try await push(["--from", "-"], lines: line).status == 0)
        let people = try await show()
        #expect(people.status == 0, "\(people.error)")
        let lines = people.lines.filter { $0.hasPrefix("meta ") }
        let shown = [#"a: tab\u{1b}[2J\nstate done"#, "b: [1, 2]", "long: \(long.prefix(200))…"]
        #expect(lines.map { String($0.dropFirst(14)) } == shown)
        let expected: JSON = ["b": [1, 2], "a": "tab\u{1B}[2J\nstate done", "long": .text(long)]
        #expect(try await show("--json").object["meta"] == expected)
    }

    @Test func aJobWithoutAnythingHasNull() async throws {
        #expect(try await push(["work", "--id", "one"]).status == 0)
        #expect(try await show("--json").object["meta"] == JSON.null)
        #expect(try await !show().text.contains("meta"))
    }
}

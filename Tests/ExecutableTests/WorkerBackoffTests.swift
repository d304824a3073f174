import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// The retry delays of a worker's catalogue.
@Suite struct WorkerBackoffTests {
    private let server: RedisServer
    private var environment: [String: String] { ["ERRAND_REDIS_URL": server.url] }

    init() throws { server = try RedisServer() }

    private func running(_ operations: String, _ test: () async throws -> Void) async throws {
        let catalogue = server.directory + "/catalogue.yaml"
        try "operations: {\(operations)}\n".write(toFile: catalogue, atomically: true, encoding: .utf8)
        let worker = try RunningExecutable(.worker, ["--catalogue", catalogue], environment: environment)
        try await test()
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
    }

    private func push(_ line: String) async throws {
        let output = try await Executable.producer.run(["push", "--from", "-"], on: server, input: line)
        #expect(output.status == 0, "\(output.error)")
    }

    /// The milliseconds between the ends of a dead job's failed runs.
    private func pauses(of id: String) async throws -> [Int64] {
        let desk = try await Desk(server)
        try await until("the job is dead") {
            try await desk.broker.inspect([id], on: "default").first??.state == .dead
        }
        let record = try #require(try await desk.broker.inspect([id], on: "default").first ?? nil)
        // The last failure is the event of the death.
        let ends = record.events.compactMap(JobEvent.init(line:)).filter { $0.kind == .failed || $0.kind == .dead }
            .compactMap(\.atMilliseconds).sorted()
        return zip(ends, ends.dropFirst()).map { $1 - $0 }
    }

    private func expect(_ pauses: [Int64], _ waits: [Int64]) {
        #expect(pauses.count == waits.count)
        for (pause, wait) in zip(pauses, waits) { #expect((wait...wait + 2000).contains(pause), "\(pauses)") }
    }

    @Test func waitsForTheDelayOfTheCatalogue() async throws {
        let backoff = "{base: 100ms, longest: 300ms, jitter: 0}"
        try await running("fail: {run: [\"false\"], retries: 4, backoff: \(backoff)}") {
            try await push(#"{"operation":"fail","id":"one"}"#)
            expect(try await pauses(of: "one"), [100, 200, 300, 300])
        }
    }

    @Test func theDelayOfTheJobTakesPrecedence() async throws {
        try await running("fail: {run: [\"false\"], backoff: {base: 1h}}") {
            let backoff = #"{"base_ms":50,"longest_ms":50,"jitter":1,"unknown":[]}"#
            try await push(#"{"operation":"fail","id":"one","backoff":\#(backoff)}"#)
            expect(try await pauses(of: "one"), [0, 0, 0])
        }
    }

    /// A backoff that is shown, exported and pushed again stays the same.
    @Test func aBackoffOutlivesExportAndImport() async throws {
        let backoff = #"{"base_ms":5000, "jitter":0.50,"growth":3}"#
        try await push(#"{"operation":"fail","id":"one","backoff":\#(backoff)}"#)
        let shown = try await Executable.console.run(["job", "show", "one"], on: server)
        #expect(shown.text.contains("base 5 s, longest 1 h, jitter 0.5"), "\(shown.text)")
        let exported = try await Executable.console.run(["jobs", "export", "--new-ids"], on: server)
        #expect(exported.text.contains(#""backoff":\#(backoff)"#), "\(exported.text)")
        let imported = try await Executable.console.run(["jobs", "import", "-"], on: server, input: exported.text)
        #expect(imported.status == 0, "\(imported.error)")
        let both = try await Executable.console.run(["jobs", "export", "--state", "ready"], on: server)
        #expect(both.lines.count == 2 && both.lines.allSatisfy { $0.contains(#""backoff":\#(backoff)"#) })
    }

    @Test func aScheduleTakesABackoff() async throws {
        _ = try await Executable.console.run(["queue", "create", "default"], on: server)
        func add(_ backoff: String) async throws -> Output {
            let command = ["schedule", "add", "pulse", "ping", "--every", "1h", "--backoff", backoff]
            return try await Executable.console.run(command, on: server)
        }
        #expect(try await add("5s,1s").status == 64)
        #expect(try await add("5s,2m").status == 0)
        let shown = try await Executable.console.run(["schedule", "show", "pulse", "--json"], on: server)
        #expect(shown.text.contains(#""backoff":{"base_ms":5000,"longest_ms":120000,"jitter":0.2}"#), "\(shown.text)")
    }

    @Test func retriesThreeTimesOverAtLeastAMinuteByDefault() async throws {
        try await running("fail: {run: [\"false\"]}") {
            try await push(#"{"operation":"fail","id":"one"}"#)
            let desk = try await Desk(server)
            var waits: [Int64] = []
            for failure in 1...3 {
                try await until("failure \(failure)") {
                    try await desk.broker.inspect(["one"], on: "default").first??.failures == failure
                }
                let record = try #require(try await desk.broker.inspect(["one"], on: "default").first ?? nil)
                #expect(record.state == .retrying)
                let failed = try #require(JobEvent(line: record.lastEvent)?.atMilliseconds)
                waits.append(try #require(record.at) - failed)
                #expect(try await desk.broker.retry(["one"], on: "default") == [.hurried])
            }
            #expect(waits.reduce(0, +) >= 60_000, "\(waits)")
            try await until("the fourth failure is the last") {
                try await desk.broker.inspect(["one"], on: "default").first??.state == .dead
            }
        }
    }
}

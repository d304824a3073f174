import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Jobs with unusual contents.
extension Scenario {
    static let descriptions = [
        Scenario("F61", "no worker has the operation, until one with it starts", quick: true) { context in
            context.rules { $0.forbidsDuplicates = true }
            try context.server()
            let old = try await context.worker { $0.without = ["mark"] }
            let ids = try await context.push(50, "mark")
            let others = try await context.push(50, "nap") { $0.milliseconds = 5 }
            try await eventually("what it knows is done, the rest is set aside") {
                let now = try await context.status()
                return others.allSatisfy { context.ledger.ended[$0] != nil }
                    && now.unknownOperations["mark"] == ids.count
            }
            context.injected(ids.count)
            let status = try await context.status()
            context.expect(status.ready == ids.count && status.totals["failed"] == 0, "they count as failed")
            for record in try await context.console.inspect(ids, on: ScenarioContext.queue) {
                context.expect(record?.state == .ready && record?.body.isEmpty == false, "a body is gone")
            }
            try await context.worker()
            try await context.recovers("a worker that knows them does them") {
                ids.allSatisfy { context.ledger.ended[$0] != nil }
            }
            old.signal(SIGTERM)
            _ = try await old.end()
        },
        Scenario("F62", "arguments that the handler cannot decode", quick: true) { context in
            try context.server()
            let good = try await context.push(50, "mark")
            let texts = [#"{"ms":"soon"}"#, "[]", "null", "3", #"{"id":{}}"#]
            let bad = try texts.map { text in
                try OperationDescription(
                    "mark",
                    arguments: JSONText(validating: text.utf8),
                    queue: ScenarioContext.queue,
                    retries: 0
                ).makeEnvelope()
            }
            try await context.push(bad, ends: false)
            try await context.worker()
            try await context.drain()
            for (job, record) in zip(bad, try await context.console.inspect(bad.map(\.id), on: ScenarioContext.queue)) {
                context.expect(record?.state == .dead, "\(job.id) is \(record?.state.rawValue ?? "gone")")
                context.expect(record?.failures == 1, "\(job.id) failed \(record?.failures ?? 0) times")
                context.injected()
            }
            context.expect(good.allSatisfy { context.ledger.ended[$0] == 1 }, "others suffered")
            _ = try await context.console.delete(bad.map(\.id), on: ScenarioContext.queue)
        },
        Scenario("F65", "names and arguments full of control characters", quick: true) { context in
            let server = try context.server()
            let nasty = "a\u{0}b\r\nc%s\u{1b}[31m\u{202e}é{}\"'`$(x)" + String(repeating: "ß", count: 400)
            let jobs = try (0..<10).map { number in
                var options = JobOptions()
                options.name = nasty + "\(number)"
                options.unique = .drop
                // The run verifies with the checksum that it arrives unchanged.
                options.text = nasty
                return try context.job("mark", options)
            }
            try await context.push(jobs)
            expectRefused(context)
            for id in ["a b", "a\u{0}", "ü", String(repeating: "x", count: 65)] {
                do throws(DescriptionError) {
                    _ = try OperationDescription("mark", queue: ScenarioContext.queue, id: id)
                    context.expect(false, "the id \(id.debugDescription) was let through")
                } catch { context.injected() }
            }
            let texts = try ["jobs", "status"].map { view in
                try console(context, server, [view] + (view == "jobs" ? ["--queue", ScenarioContext.queue] : []))
            }
            for text in texts { expectPlain(context, [text], "the console") }
            let library = try await context.worker { $0.environment["LOG_LEVEL"] = "trace" }
            try await context.drain()
            let kept = try await context.console.inspect(jobs.map(\.id), on: ScenarioContext.queue)
            context.expect(kept.allSatisfy { $0?.state == .finished }, "not all finished")
            expectPlain(context, library.lines, "a worker's log")
            library.signal(SIGTERM)
            _ = try await library.end()
            try await shout(context, server, nasty)
        },
        Scenario("F66", "deeply nested arguments", quick: true) { context in
            let server = try context.server()
            let worker = try await context.worker()
            for depth in [65, 160, 511, 512, 513, 100_000] {
                let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                do {
                    _ = try JSONText(validating: text.utf8)
                    context.expect(false, "a depth of \(depth) was let through")
                } catch { context.injected() }
                // Bypassing the producer's check.
                let body =
                    "1i5;;;24\n\"operation\":\"mark\",\"name\":null{\"v\":1,\"operation\":\"mark\",\"arguments\":\(text)}"
                let id = "deep-\(depth)"
                try await context.write(
                    "HSET",
                    [
                        Array(ScenarioContext.key("body").utf8), Array(id.utf8),
                        Array("\(ScenarioContext.now)\(body)".utf8),
                    ]
                )
                try server.run("RPUSH", ScenarioContext.key("ready:5"), id)
            }
            try await context.push(20, "mark")
            try await context.drain()
            let dead = try await context.console.jobs(in: .dead, on: ScenarioContext.queue, from: 0, count: 100).jobs
                .map(\.id)
            context.expect(dead.count == 6, "dead are \(dead)")
            context.expect(context.sessions(of: worker).count == 1 && worker.isRunning, "the worker ended")
            _ = try await context.console.delete(dead, on: ScenarioContext.queue)
        },
        Scenario("F67", "numbers beyond all integers", quick: true) { context in
            let server = try context.server()
            let lines = [
                #""timeout_ms":1e400"#, #""timeout_ms":9223372036854775808"#, #""retries":1.5"#, #""retries":-1"#,
                #""priority":10"#, #""not_before_ms":1e18"#, #""not_before_ms":-0.5"#, #""v":2"#, #""timeout_ms":0"#,
            ]
            let file = context.directory + "/lines"
            let text =
                lines.map { #"{"operation":"mark","queue":"\#(ScenarioContext.queue)",\#($0)}"# } + [
                    #"{"operation":"mark","queue":"\#(ScenarioContext.queue)","arguments":{"ms":1,"big":1e400,"long":123456789012345678901234567890}}"#
                ]
            try text.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
            let arguments = ["push", "--from", file, "--json", "--redis", server.url]
            let producer = try context.program("errand-producer", arguments)
            let status = try await producer.end()
            context.expect(status == 65, "the producer ended with \(status)")
            let refused = producer.lines.filter { $0.contains("line ") }.count
            context.expect(
                refused == lines.count,
                "\(refused) lines were refused, not \(lines.count): \(producer.lines)"
            )
            context.injected(refused)
            let worker = try await context.worker()
            try await context.drain()
            context.expect(worker.isRunning && context.sessions(of: worker).count == 1, "the worker ended")
            let totals = try await context.totals()
            context.expect(totals["pushed"] == 1, "\(totals["pushed"]) were pushed")
            let dead = try await context.console.jobs(in: .dead, on: ScenarioContext.queue, from: 0, count: 10).jobs
                .map(\.id)
            _ = try await context.console.delete(dead, on: ScenarioContext.queue)
            for line in context.ledger.lines { context.accounts.adopt(line.id) }
        },
        Scenario("F76", "an error of several megabytes with what a terminal would obey", quick: true) { context in
            let server = try context.server()
            let worker = try await context.worker { $0.environment["LOG_LEVEL"] = "trace" }
            let ids = try await context.push(5, "chatter") {
                $0.text = "swordfish \u{1b}[31m\u{0}"
                $0.ends = false
            }
            try await context.drain()
            for record in try await context.console.inspect(ids, on: ScenarioContext.queue) {
                context.expect(
                    (record?.lastEvent.count ?? 0) < 16384,
                    "\(record?.lastEvent.count ?? 0) bytes were kept"
                )
                context.expect(record?.state == .dead, "it is \(record?.state.rawValue ?? "gone")")
                context.injected()
            }
            let said = worker.lines.joined(separator: "\n")
            // What a handler throws is in the log, shortened and on one line; what it was given is not.
            context.expect(said.contains("job failed and is dead"), "the worker's log does not tell that jobs are dead")
            context.expect(!said.contains("\u{1b}"), "the worker's log has an escape character")
            context.expect(!said.contains("swordfish"), "the worker's log tells the job's arguments")
            context.expect(said.utf8.count < 200_000, "the worker wrote \(said.utf8.count) bytes")
            let seen = try console(context, server, ["jobs", "--queue", ScenarioContext.queue, "--state", "dead"])
            context.expect(!seen.contains("\u{1b}"), "the console wrote an escape character")
            _ = try await context.console.delete(ids, on: ScenarioContext.queue)
        },
    ]

    /// Texts that are not UTF-8: wrong bytes, overlong ones, half of a pair, and a truncated character.
    private static func expectRefused(_ context: ScenarioContext) {
        for bytes: [UInt8] in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]] {
            let quote = [UInt8(ascii: "\"")]
            do {
                _ = try JSONText(validating: quote + bytes + quote)
                context.expect(false, "the bytes \(bytes) were let through")
            } catch { context.injected() }
        }
    }

    /// Texts that must not control a terminal or change the direction of text.
    private static func expectPlain(_ context: ScenarioContext, _ lines: [String], _ what: String) {
        context.expect(!lines.isEmpty, "\(what) is empty")
        let raw = lines.joined().unicodeScalars.filter { ($0.value < 32 && $0 != "\n") || $0.value == 0x202e }
        context.expect(raw.isEmpty, "\(what) has control characters: \(Array(raw.prefix(3)))")
    }

    /// The shipped worker with a child that repeats its input and fails.
    private static func shout(_ context: ScenarioContext, _ server: RedisServer, _ nasty: String) async throws {
        let catalogue = context.directory + "/shout.yaml"
        let command = #"[sh, -c, 'printf "%s\n" "$ERRAND_NAME" >&2; cat >&2; exit 1']"#
        try "operations:\n  shout: {run: \(command), queue: \(ScenarioContext.queue), retries: 0}\n"
            .write(toFile: catalogue, atomically: true, encoding: .utf8)
        let shipped = try context.command(
            "errand-worker",
            ["--catalogue", catalogue, "--redis", server.url, "--verbose"]
        )
        // The first one cannot be an argument of a child, because it contains NUL.
        for name in [nasty, nasty.filter { $0 != "\0" }] {
            try await context.push(1, "shout") {
                $0.name = name
                $0.unique = .drop
                $0.pad = 100
                $0.ends = false
            }
        }
        try await eventually("both have failed") { try await context.status().dead == 2 }
        let dead = try console(context, server, ["jobs", "--queue", ScenarioContext.queue, "--state", "dead"])
        expectPlain(context, [dead], "the list of dead jobs")
        _ = try await context.console.delete(try await context.dead(), on: ScenarioContext.queue)
        shipped.signal(SIGTERM)
        let status = try await shipped.end()
        context.expect(status == 0, "the shipped worker left with \(status)")
        expectPlain(context, shipped.lines, "the shipped worker's log")
    }

    /// The output of the console.
    static func console(_ context: ScenarioContext, _ server: RedisServer, _ arguments: [String]) throws -> String {
        let words = arguments + ["--redis", server.url]
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        return try Shell.run("'\(Program.path(of: "errand"))' \(quoted) 2>/dev/null")
    }
}

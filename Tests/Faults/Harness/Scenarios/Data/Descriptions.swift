import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Jobs that are not what a worker expects.
extension Scenario {
    static let descriptions = [
        Scenario("F61", "no worker knows the operation, until one comes that does", quick: true) { play in
            play.rules { $0.forbidsDuplicates = true }
            try play.server()
            let old = try await play.worker { $0.without = ["mark"] }
            let ids = try await play.push(50, "mark")
            let others = try await play.push(50, "nap") { $0.milliseconds = 5 }
            try await eventually("what it knows is done, the rest is set aside") {
                let now = try await play.status()
                return others.allSatisfy { play.ledger.ended[$0] != nil } && now.unknownOperations["mark"] == ids.count
            }
            play.struck(ids.count)
            let status = try await play.status()
            play.expect(status.ready == ids.count && status.totals["failed"] == 0, "they count as failed")
            for record in try await play.console.inspect(ids, on: Play.queue) {
                play.expect(record?.state == .ready && record?.body.isEmpty == false, "a body is gone")
            }
            try await play.worker()
            try await play.recovers("a worker that knows them does them") {
                ids.allSatisfy { play.ledger.ended[$0] != nil }
            }
            old.signal(SIGTERM)
            _ = try await old.end()
        },
        Scenario("F62", "arguments that the handler cannot decode", quick: true) { play in
            try play.server()
            let good = try await play.push(50, "mark")
            let texts = [#"{"ms":"soon"}"#, "[]", "null", "3", #"{"id":{}}"#]
            let bad = try texts.map { text in
                try OperationDescription(
                    "mark",
                    arguments: JSONText(validating: text.utf8),
                    queue: Play.queue,
                    retries: 0
                ).settled()
            }
            try await play.push(bad, ends: false)
            try await play.worker()
            try await play.drain()
            for (job, record) in zip(bad, try await play.console.inspect(bad.map(\.id), on: Play.queue)) {
                play.expect(record?.state == .dead, "\(job.id) is \(record?.state.rawValue ?? "gone")")
                play.expect(record?.failures == 1, "\(job.id) failed \(record?.failures ?? 0) times")
                play.struck()
            }
            play.expect(good.allSatisfy { play.ledger.ended[$0] == 1 }, "others suffered")
            _ = try await play.console.delete(bad.map(\.id), on: Play.queue)
        },
        Scenario("F65", "names and arguments full of control characters", quick: true) { play in
            let server = try play.server()
            let nasty = "a\u{0}b\r\nc%s\u{1b}[31m\u{202e}é{}\"'`$(x)" + String(repeating: "ß", count: 400)
            let jobs = try (0..<10).map { number in
                var options = JobOptions()
                options.name = nasty + "\(number)"
                options.unique = .drop
                // The run tells whether it comes through as it is, by its sum.
                options.text = nasty
                return try play.job("mark", options)
            }
            try await play.push(jobs)
            expectRefused(play)
            for id in ["a b", "a\u{0}", "ü", String(repeating: "x", count: 65)] {
                do throws(DescriptionError) {
                    _ = try OperationDescription("mark", queue: Play.queue, id: id)
                    play.expect(false, "the id \(id.debugDescription) was let through")
                } catch { play.struck() }
            }
            let texts = try ["jobs", "status"].map { view in
                try console(play, server, [view] + (view == "jobs" ? ["--queue", Play.queue] : []))
            }
            for text in texts { expectPlain(play, [text], "the console") }
            let library = try await play.worker { $0.environment["LOG_LEVEL"] = "trace" }
            try await play.drain()
            let kept = try await play.console.inspect(jobs.map(\.id), on: Play.queue)
            play.expect(kept.allSatisfy { $0?.state == .finished }, "not all finished")
            expectPlain(play, library.lines, "a worker's log")
            library.signal(SIGTERM)
            _ = try await library.end()
            try await shout(play, server, nasty)
        },
        Scenario("F66", "arguments nested deeper than anybody should", quick: true) { play in
            let server = try play.server()
            let worker = try await play.worker()
            for depth in [65, 160, 511, 512, 513, 100_000] {
                let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                do {
                    _ = try JSONText(validating: text.utf8)
                    play.expect(false, "a depth of \(depth) was let through")
                } catch { play.struck() }
                // Past the producer's check.
                let body =
                    "1i5;;;24\n\"operation\":\"mark\",\"name\":null{\"v\":1,\"operation\":\"mark\",\"arguments\":\(text)}"
                let id = "deep-\(depth)"
                try await play.write(
                    "HSET",
                    [Array(Play.key("body").utf8), Array(id.utf8), Array("\(Play.now)\(body)".utf8)]
                )
                try server.run("RPUSH", Play.key("ready:5"), id)
            }
            try await play.push(20, "mark")
            try await play.drain()
            let dead = try await play.console.jobs(in: .dead, on: Play.queue, from: 0, count: 100).jobs.map(\.id)
            play.expect(dead.count == 6, "dead are \(dead)")
            play.expect(play.sessions(of: worker).count == 1 && worker.isRunning, "the worker ended")
            _ = try await play.console.delete(dead, on: Play.queue)
        },
        Scenario("F67", "numbers that fit no integer", quick: true) { play in
            let server = try play.server()
            let lines = [
                #""timeout_ms":1e400"#, #""timeout_ms":9223372036854775808"#, #""retries":1.5"#, #""retries":-1"#,
                #""priority":10"#, #""not_before_ms":1e18"#, #""not_before_ms":-0.5"#, #""v":2"#, #""timeout_ms":0"#,
            ]
            let file = play.directory + "/lines"
            let text =
                lines.map { #"{"operation":"mark","queue":"\#(Play.queue)",\#($0)}"# } + [
                    #"{"operation":"mark","queue":"\#(Play.queue)","arguments":{"ms":1,"big":1e400,"long":123456789012345678901234567890}}"#
                ]
            try text.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
            let arguments = ["push", "--from", file, "--json", "--redis", server.url]
            let producer = try play.program("errand-producer", arguments)
            let status = try await producer.end()
            play.expect(status == 65, "the producer ended with \(status)")
            let refused = producer.lines.filter { $0.contains("line ") }.count
            play.expect(refused == lines.count, "\(refused) lines were refused, not \(lines.count): \(producer.lines)")
            play.struck(refused)
            let worker = try await play.worker()
            try await play.drain()
            play.expect(worker.isRunning && play.sessions(of: worker).count == 1, "the worker ended")
            let totals = try await play.totals()
            play.expect(totals["pushed"] == 1, "\(totals["pushed"]) were pushed")
            let dead = try await play.console.jobs(in: .dead, on: Play.queue, from: 0, count: 10).jobs.map(\.id)
            _ = try await play.console.delete(dead, on: Play.queue)
            for line in play.ledger.lines { play.accounts.adopt(line.id) }
        },
        Scenario("F76", "an error of megabytes with a password in it", quick: true) { play in
            let server = try play.server()
            let worker = try await play.worker { $0.environment["LOG_LEVEL"] = "trace" }
            let ids = try await play.push(5, "chatter") {
                $0.text = "swordfish \u{1b}[31m\u{0}"
                $0.ends = false
            }
            try await play.drain()
            for record in try await play.console.inspect(ids, on: Play.queue) {
                play.expect((record?.lastEvent.count ?? 0) < 16384, "\(record?.lastEvent.count ?? 0) bytes were kept")
                play.expect(record?.state == .dead, "it is \(record?.state.rawValue ?? "gone")")
                play.struck()
            }
            let said = worker.lines.joined(separator: "\n")
            play.expect(!said.contains("hunter2"), "the worker's log tells the error's text")
            play.expect(!said.contains("swordfish"), "the worker's log tells the job's arguments")
            play.expect(said.utf8.count < 200_000, "the worker wrote \(said.utf8.count) bytes")
            let seen = try console(play, server, ["jobs", "--queue", Play.queue, "--state", "dead"])
            play.expect(!seen.contains("\u{1b}"), "the console wrote an escape character")
            _ = try await play.console.delete(ids, on: Play.queue)
        },
    ]

    /// What is no UTF-8 is no JSON text: wrong bytes, too long ones, half of a pair, and a character that is cut off.
    private static func expectRefused(_ play: Play) {
        for bytes: [UInt8] in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]] {
            let quote = [UInt8(ascii: "\"")]
            do {
                _ = try JSONText(validating: quote + bytes + quote)
                play.expect(false, "the bytes \(bytes) were let through")
            } catch { play.struck() }
        }
    }

    /// Nothing in it may steer a terminal, or turn what follows round.
    private static func expectPlain(_ play: Play, _ lines: [String], _ what: String) {
        play.expect(!lines.isEmpty, "\(what) is empty")
        let raw = lines.joined().unicodeScalars.filter { ($0.value < 32 && $0 != "\n") || $0.value == 0x202e }
        play.expect(raw.isEmpty, "\(what) has control characters: \(Array(raw.prefix(3)))")
    }

    /// The shipped worker, which says more, with a child that repeats all that it is told, and fails.
    private static func shout(_ play: Play, _ server: RedisServer, _ nasty: String) async throws {
        let catalogue = play.directory + "/shout.yaml"
        let command = #"[sh, -c, 'printf "%s\n" "$ERRAND_NAME" >&2; cat >&2; exit 1']"#
        try "operations:\n  shout: {run: \(command), queue: \(Play.queue), retries: 0}\n"
            .write(toFile: catalogue, atomically: true, encoding: .utf8)
        let shipped = try play.command("errand-worker", ["--catalogue", catalogue, "--redis", server.url, "--verbose"])
        // No child can be given the first one, for its NUL.
        for name in [nasty, nasty.filter { $0 != "\0" }] {
            try await play.push(1, "shout") {
                $0.name = name
                $0.unique = .drop
                $0.pad = 100
                $0.ends = false
            }
        }
        try await eventually("both have failed") { try await play.status().dead == 2 }
        let dead = try console(play, server, ["jobs", "--queue", Play.queue, "--state", "dead"])
        expectPlain(play, [dead], "the list of dead jobs")
        _ = try await play.console.delete(try await play.dead(), on: Play.queue)
        shipped.signal(SIGTERM)
        let status = try await shipped.end()
        play.expect(status == 0, "the shipped worker left with \(status)")
        expectPlain(play, shipped.lines, "the shipped worker's log")
    }

    /// What the console writes.
    static func console(_ play: Play, _ server: RedisServer, _ arguments: [String]) throws -> String {
        let words = arguments + ["--redis", server.url]
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        return try Shell.run("'\(Program.path(of: "errand"))' \(quoted) 2>/dev/null")
    }
}

import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// `errand jobs --by-error`.
@Suite struct ConsoleErrorsTests {
    private func dead(_ errors: [String]) async throws -> (RedisServer, Desk) {
        let server = try RedisServer()
        let desk = try await Desk(server)
        let lines = errors.indices.map { #"{"operation":"work","id":"j\#($0)"}"# }.joined(separator: "\n")
        let pushed = try await Executable.producer.run(["push", "--from", "-"], on: server, input: lines)
        #expect(pushed.status == 0, "\(pushed.error)")
        for error in errors { try await desk.work(.failed, error: error) }
        return (server, desk)
    }

    @Test func `equal errors are one line, with the number of jobs`() async throws {
        let (server, _) = try await dead(["timeout after 3 s", "timeout after 4 s", "no such file"])
        let table = try await Executable.console.run(["jobs", "--state", "dead", "--by-error"], on: server)
        #expect(table.status == 0, "\(table.error)")
        #expect(table.text.contains(/\b2 .*timeout after # s/) && table.text.contains(/\b1 .*no such file/))
        let json = try await Executable.console.run(["jobs", "--state", "dead", "--by-error", "--json"], on: server)
        let lines = json.lines
        #expect(lines.count == 2)
        #expect(
            lines.first?.hasPrefix(#"{"pattern":"timeout after # s","count":2,"first_ms":"#) == true,
            "\(json.text)"
        )
        #expect(lines.first?.contains(#""operations":{"work":2},"example":{"id":"j1""#) == true, "\(json.text)")
    }

    @Test func `the number of examined jobs is printed`() async throws {
        let (server, _) = try await dead(["a", "b", "c"])
        let words = ["jobs", "--state", "dead", "--by-error", "--scan", "2"]
        let part = try await Executable.console.run(words, on: server)
        #expect(part.error.contains("examined the newest 2 of 3 dead jobs"), "\(part.error)")
    }

    @Test func `an error of the list is a filter for other commands`() async throws {
        let (server, desk) = try await dead(["timeout after 3 s", "timeout after 4 s", "no such file"])
        let words = ["jobs", "retry", "--error-like", "timeout after # s", "--yes"]
        let retried = try await Executable.console.run(words, on: server)
        #expect(retried.text.contains("2 retried"), "\(retried.text) \(retried.error)")
        #expect(try await desk.broker.status(of: "default").queue.dead == 1)
    }

    @Test func `dead jobs are listed newest first across queues, page by page`() async throws {
        let server = try RedisServer()
        let desk = try await Desk(server, queues: ["a", "b"])
        for (index, queue) in ["a", "b", "a", "b"].enumerated() {
            let input = #"{"operation":"work","id":"j\#(index)","queue":"\#(queue)"}"#
            #expect(try await Executable.producer.run(["push", "--from", "-"], on: server, input: input).status == 0)
            try await desk.work(.failed, error: "x", queue: queue)
            try server.run("ZADD", "errand:{\(queue)}:dead", "\(1000 + index)", "j\(index)")
        }
        var (seen, from): ([String], [String]) = ([], [])
        repeat {
            let words = ["jobs", "--state", "dead", "--limit", "3", "--json"] + from
            let page = try await Executable.console.run(words, on: server)
            seen += page.text.matches(of: /"id":"(j\d)"/).map { String($0.1) }
            from = page.error.firstMatch(of: /--from (\S+)/).map { ["--from", String($0.1)] } ?? []
        } while !from.isEmpty
        #expect(seen == ["j3", "j2", "j1", "j0"])
        let old = ["jobs", "--state", "dead", "--from", "a:dead:1", "--json"]
        let byPosition = try await Executable.console.run(old, on: server)
        #expect(byPosition.text.matches(of: /"id":"(j\d)"/).map { String($0.1) } == ["j0", "j3", "j1"])
    }

    @Test(arguments: [
        ["--from", "newest:1:a:j"], ["--by-error"], ["--by-error", "--state", "ready"],
        ["--by-error", "--state", "dead", "--sort", "time"],
        ["--error-like", ""],
    ]) func `options that do not fit are rejected`(_ words: [String]) async throws {
        let server = try RedisServer()
        #expect(try await Executable.console.run(["jobs"] + words, on: server).status == 64)
    }
}
